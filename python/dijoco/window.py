"""A window with a twin in it, by GLFW, which MuJoCo's package brings."""
from __future__ import annotations

import time
import warnings
from typing import Any, Callable

import numpy as np

from ._types import NDArray
from .twin import Artist, Control, Layout, Twin

BUDGET = 0.05      # s of simulation that a frame of the window waits for


class NoWindow(Exception):
    """There is no display, or no OpenGL on it."""


def _open(title: str, size: tuple[int, int]) -> Any:
    import glfw
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not glfw.init():
            raise NoWindow("there is no display")
        glfw.window_hint(glfw.SAMPLES, 4)
        window = glfw.create_window(*size, title, None, None)
        if not window:
            glfw.terminate()
            raise NoWindow("the display has no OpenGL")
    glfw.make_context_current(window)
    glfw.swap_interval(1)
    return window


def _connect(window: Any, control: Control) -> None:
    """Events of the window to the control; pixels from below."""
    import glfw
    buttons = {glfw.MOUSE_BUTTON_LEFT: "LEFT", glfw.MOUSE_BUTTON_RIGHT: "RIGHT",
               glfw.MOUSE_BUTTON_MIDDLE: "MIDDLE"}
    keys = {getattr(glfw, "KEY_" + name): name
            for name in ("SPACE", "LEFT", "RIGHT", "HOME", "P", "F")}

    def place(x: float, y: float) -> tuple[float, float]:
        scale = glfw.get_framebuffer_size(window)[0] / max(1, glfw.get_window_size(window)[0])
        return x * scale, control.layout.height - y * scale

    def press(_: Any, button: int, action: int, mods: int) -> None:
        if action == glfw.PRESS:
            control.press(*place(*glfw.get_cursor_pos(window)), buttons.get(button, "MIDDLE"))
        else:
            control.release()

    def key(_: Any, code: int, scan: int, action: int, mods: int) -> None:
        if action != glfw.RELEASE:
            if code == glfw.KEY_ESCAPE:
                glfw.set_window_should_close(window, True)
            control.key(keys.get(code, ""))

    glfw.set_mouse_button_callback(window, press)
    glfw.set_cursor_pos_callback(window, lambda _, x, y: control.move(*place(x, y)))
    glfw.set_scroll_callback(window, lambda _, x, y: control.scroll(y))
    glfw.set_key_callback(window, key)


def show(twin: Twin, camera: Any, title: str = "dijoco.view", limit: float = np.inf,
         speed: float = 1.0, size: tuple[int, int] = (1280, 640),
         each: Callable[[Control, NDArray[np.uint8] | None, Any], bool] | None = None) -> None:
    """The twin as it goes on, until the window is closed. each(control, picture, window) is called
    after every frame with what was drawn, and ends it by returning False."""
    import glfw
    import mujoco
    window = _open(title, size)
    try:
        context = mujoco.MjrContext(twin.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        control = Control(twin, Artist(twin.model, context, camera),
                          Layout(*glfw.get_framebuffer_size(window)), limit, speed)
        _connect(window, control)
        before, going = time.monotonic(), True
        while going and not glfw.window_should_close(window):
            now = time.monotonic()
            control.tick(now - before, BUDGET)
            before = now
            width, height = glfw.get_framebuffer_size(window)
            control.layout = Layout(width, height)
            control.artist.draw(twin, control.time, control.layout, control.end)
            if each is not None:
                picture = np.empty((height, width, 3), np.uint8)
                mujoco.mjr_readPixels(picture, None, mujoco.MjrRect(0, 0, width, height), context)
                going = each(control, picture[::-1], window)
            glfw.swap_buffers(window)
            glfw.poll_events()
        context.free()
    finally:
        glfw.destroy_window(window)
        glfw.terminate()
