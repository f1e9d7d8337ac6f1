# Front door. Everything is built by CMake (see CMakePresets.json); this only installs what is
# missing, picks a preset and runs things. All output stays in build*/.
#
#   make demo       a simulation beside MuJoCo's, and a checked gradient
#   make check      release build and tests by gcc, the library by clang, all without MuJoCo by
#                   both, then most under sanitizers
#   make build      release, into build/        make debug      sanitizers, into build-debug/
#   make bench      timings                     make coverage   line coverage
#   make validate   every claim of README at full length, one table; ONLY="drops plates": some
#   make references store what the scenes of tests/references give; make references-check:
#                   compare it with what other compilers make of them
#   make abi        store the layout of the public structs, after SOVERSION was raised
#   make lint       static analysis             make format     clang-format
#   make mutation   breaks the code 300 times: how often do the tests notice?
#   make tsan       threads, under a sanitizer  make valgrind   memory, of a part of the tests
#   make clang      the quick tests, by clang   make sanitize   all tests, under sanitizers
#   make fuzz TIME=600    invented input to every reader, for so many seconds in all (needs clang)
#   make wheel      the Python package with all that it needs, into dist/
#   make dist       a release in dist/: source archive, bill of materials, Debian package
#   make install    into PREFIX (/usr/local)    make docs       the manual as a site, with references
#   make clean      remove what was built       make distclean  ... and what was downloaded
#
# Settings, as variables or in the environment:
#   MUJOCO_DIR=/path          use this MuJoCo, not the pinned one
#   DIJOCO_WITHOUT_MUJOCO=ON  build the core only
#   DIJOCO_OFFLINE=1          no network: what is missing is an error
#   TORCH=1                   make check: fetch PyTorch and JAX (3 GB), too, and test with them
#   MUTATE="..."              arguments for scripts/mutate (--help)
#   PREFIX=/path DESTDIR=/path    where `make install` puts things (DESTDIR goes in front)
#   DIJOCO_CMAKE_ARGS="..."   more arguments for cmake, e.g. -DDIJOCO_NATIVE=OFF (portable
#                             binaries); kept until `make clean`
#   DIJOCO_CLANG=clang-16     the clang of check, fuzz and lint
.PHONY: all build debug coverage demo check clang sanitize mutation bench validate references \
        references-check abi install wheel dist docs lint format tsan valgrind fuzz clean distclean
.NOTPARALLEL:
all: build

build:
	@sh scripts/build.sh release
debug:
	@sh scripts/build.sh debug
coverage:
	@sh scripts/coverage.sh
demo:
	@sh scripts/demo.sh
check:
	@DIJOCO_TORCH="$(or $(TORCH),$(DIJOCO_TORCH))" sh scripts/check.sh
clang:
	@sh scripts/check.sh --clang
sanitize:
	@sh scripts/check.sh --sanitize
mutation:
	@sh scripts/mutation.sh
bench:
	@sh scripts/bench.sh
validate:
	@sh scripts/validate.sh $(ONLY)
references:
	@sh scripts/references.sh write
references-check:
	@sh scripts/references.sh check
abi:
	@python3 scripts/abi.py write
install:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" sh scripts/install.sh
wheel:
	@sh scripts/wheel.sh --test
dist:
	@sh scripts/dist.sh
docs:
	@sh scripts/docs.sh
lint:
	@sh scripts/lint.sh
tsan:
	@sh scripts/watched.sh tsan
valgrind:
	@sh scripts/watched.sh valgrind
fuzz:
	@TIME="$(or $(TIME),600)" sh scripts/fuzz.sh
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

OTHERS = build-debug build-coverage build-mutation build-clang build-core-gcc build-core-clang \
         build-tsan build-valgrind build-fuzz build-lint
clean: # keeps build/deps, the downloads
	@rm -rf $(OTHERS)
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} +; fi
distclean:
	@rm -rf build $(OTHERS)
