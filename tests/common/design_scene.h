// A scene, keys of a task, and variables of all kinds with maps, for tests of designs.

#ifndef DJ_TESTS_DESIGN_SCENE_H_
#define DJ_TESTS_DESIGN_SCENE_H_

// A puck slides on the floor; an arm with a mesh at its end, a finger and a ball joint.
static const char djt_scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.004},'bodies':[{'name':'world'},"
    "{'name':'puck','pos':[0,0,0.05],'mass':0.5,'inertia':[0.002,0.003,0.004]},"
    "{'name':'hand','pos':[1,0,1],'quat':[0.9,0.1,0.3,0.2],'ipos':[0,0.1,-0.2],"
    "'iquat':[0.8,0.1,0.2,0.1],'mass':1,'inertia':[0.02,0.03,0.04]},"
    "{'name':'finger','parent':'hand','pos':[0.1,0,-0.4],'ipos':[0,0,-0.1],"
    "'mass':0.2,'inertia':[0.002,0.002,0.001]},"
    "{'name':'tail','pos':[0,1,1],'ipos':[0,0,-0.1],'mass':0.3,'inertia':[0.002,0.003,0.001]}],"
    "'joints':[{'name':'free','type':'free','body':'puck'},"
    "{'name':'swing','type':'hinge','body':'hand','axis':[0,1,0.2],'damping':0.1},"
    "{'name':'bend','type':'hinge','body':'finger','axis':[1,0,0],'damping':0.05},"
    "{'name':'ball','type':'ball','body':'tail','stiffness':0.5,'damping':0.02}],"
    "'meshes':[{'name':'block','vert':[[-0.1,-0.1,-0.1],[0.1,-0.1,-0.1],[-0.1,0.1,-0.1],"
    "[0.1,0.1,-0.1],[-0.1,-0.1,0.1],[0.1,-0.1,0.1],[-0.1,0.1,0.1],[0.12,0.1,0.1]]}],"
    "'geoms':[{'name':'floor','type':'plane','body':'world','size':[0,0,1],"
    "'friction':[0.3,0.1,0.1]},"
    "{'name':'puck','type':'box','body':'puck','size':[0.06,0.05,0.05],"
    "'friction':[0.6,0.1,0.1]},"
    "{'name':'head','type':'mesh','mesh':'block','body':'hand',"
    "'pos':[0,0,-0.3],'quat':[0.6,0.2,0,0.4]},"
    "{'name':'grip','type':'capsule','body':'hand','pos':[0,0,-0.1],"
    "'size':[0.02,0.05,0]},"
    "{'name':'nail','type':'sphere','body':'finger','size':[0.03,0,0]}],"
    "'sites':[{'name':'tip','body':'hand','pos':[0.02,0,-0.35]}],"
    "'actuators':[{'name':'m0','joint':'swing','ctrllimited':true,'ctrlrange':[-2,6]},"
    "{'name':'m1','joint':'bend'},"
    "{'name':'m2','joint':'swing','gear':[0.1,0,0,0,0,0],'dyn':'filter','tau':0.03}]}";

static const char djt_task[] =
    "'scene':'s','horizon':20,'initial':{'qpos':[0,0,0.052,1,0.01,0,0,0.3,-0.2,0.9,"
    "0.1,0.2,0.3],'qvel':[0.5,0.1,0,0,0,0.4,1,-1,0.2,0.3,-0.4],'act':[0.3]},"
    "'ctrl':[0.2,0.1,-0.1],"
    "'loss':[{'type':'position','body':'puck','target':[0.3,0.1,0.1]},"
    "{'type':'position','site':'tip','target':[0,0,0],'when':'running'},"
    "{'type':'position','geom':'nail','target':[0.2,0,0.3]},"
    "{'type':'orientation','body':'puck','target':[1,0.3,0.2,0.1],'weight':0.3},"
    "{'type':'orientation','body':'tail','target':[1,0.2,0.1,0.3]},"
    "{'type':'effort','weight':0.01}]";

// With maps; of a task besides those keys.
static const char djt_variables[] =
    "'free':{'t':{'value':[0.1,0.2,-0.3,0.4,0.2,-0.1,0.3,-0.2,0.1],'min':-3,'max':3},"
    "'s':{'value':[0.5,-1,2,0.3]},'q':{'value':[1.9,0.3,0.1,-0.2]},"
    "'axis':{'value':[0.1,2,-0.3]},'len':{'value':[0.03]},"
    "'c':{'value':[0.01,0,0.02,"
    "0,0.01,0,"
    "0,0,0,"
    "0,0,-0.03,"
    "0.01,0,0,"
    "0,0,0,"
    "0,0.01,0,"
    "0,0,0]}},"
    "'maps':[{'type':'tanh','from':'t','hold':7},"
    "{'type':'spline','from':'s','actuator':'m1'},"
    "{'type':'shared','from':'q','to':['body/finger/quat','body/hand/iquat']},"
    "{'type':'affine','from':'axis','to':['joint/bend/axis','joint/swing/pos'],"
    "'matrix':[[1,0,0],[0,1,0],[0,0,1],[0.1,0,0],[0,0.1,0],[0,0,0.1]]},"
    "{'type':'affine','from':'len','to':['geom/puck/size','body/finger/pos'],"
    "'matrix':[[1],[0.5],[-0.4],[0],[1],[2]],'offset':[0.03,0.035,0.062,0,0,-0.4]},"
    "{'type':'cage','from':'c','body':'hand','box':[[-0.3,-0.3,-0.6],[0.3,0.3,-0.105]],"
    "'to':['site/tip/pos','body/finger/pos','mesh/block/vert']}],"
    "'variables':[{'name':'t'},{'name':'s','index':[0,3,1]},{'name':'q'},"
    "{'name':'axis'},{'name':'len'},{'name':'c'},"
    "{'name':'qpos0'},{'name':'qvel0','index':[0,1,5,7]},{'name':'act0'},"
    "{'name':'body/hand/quat'},{'name':'joint/swing/axis'},{'name':'body/puck/mass'},"
    "{'name':'geom/floor/friction','index':[0]},{'name':'joint/ball/springref'},"
    "{'name':'option/gravity','index':[2],'max':-1}]";

#endif  // DJ_TESTS_DESIGN_SCENE_H_
