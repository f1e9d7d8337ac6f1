// Models with every kind of row, belts, dampers.

#ifndef DJ_TESTS_MJ_ROWS_H_
#define DJ_TESTS_MJ_ROWS_H_

// Bodies that touch in contacts of all dimensions, with unequal friction, direct and standard
// references, adopted by pairs, and one whose friction has a reference of its own.
#define CONTACTS(cone)                                                                            \
  "<mujoco><option timestep='0.002' cone='" cone "' impratio='3'/>"                               \
  "<default><geom solimp='.8 .95 .02 .4 3' solref='.02 .9' friction='.7 .02 .01'/></default>"     \
  "<worldbody><geom type='plane' size='5 5 .1' condim='3'/>"                                      \
  "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .15 .1' condim='4'/>"                 \
  "<body pos='.3 0 .1'><joint type='ball' damping='.1'/>"                                         \
  "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.05' condim='6'/></body></body>"              \
  "<body pos='0 .05 .27'><freejoint/><geom size='.08' condim='6' priority='1' "                   \
  "friction='.5 .03 .02'/></body>"                                                                \
  "<body pos='1 0 .1'><freejoint/><geom size='.1' condim='1'/><geom size='.08' pos='.3 0 0' "     \
  "condim='3'/></body>"                                                                           \
  "<body pos='1.1 .02 .29'><freejoint/><geom size='.1' condim='3' solref='-800 -30'/></body>"     \
  "<body pos='2 0 .09'><freejoint/><geom name='a' size='.1'/></body>"                             \
  "<body pos='2.12 .05 .19'><joint type='slide' axis='0 0 1'/><joint axis='0 1 .3'/>"             \
  "<joint axis='1 0 .3' pos='.1 0 0'/><geom name='b' size='.1'/></body></worldbody>"              \
  "<contact><pair geom1='a' geom2='b' condim='3' friction='.9 .3 .01 .01 .02' "                   \
  "solreffriction='.05 1.1'/></contact></mujoco>"

// An arm with limits and friction loss on all kinds of joints, tendons of both kinds; equalities.
#define ROWS(connect, weld)                                                                       \
  "<mujoco><option timestep='0.002'><flag contact='disable'/></option>"                           \
  "<compiler autolimits='true'/><worldbody>"                                                      \
  "<body pos='0 0 2'><joint type='ball' range='0 20' solimplimit='.7 .95 .3 .3 2.5' "             \
  "damping='.1' frictionloss='.05'/><geom type='capsule' fromto='0 0 0 .3 0 -.1' size='.03'/>"    \
  "<body pos='.3 0 -.1'><joint axis='0 1 .2' range='-10 10' margin='.02' frictionloss='.3' "      \
  "damping='.05'/><geom type='capsule' fromto='0 0 0 .25 .1 0' size='.03'/>"                      \
  "<body name='tip' pos='.25 .1 0'><joint axis='1 0 .3' solreflimit='-300 -20' range='-5 8'/>"    \
  "<joint type='slide' axis='0 .2 1' range='-.05 .05' stiffness='20'/><geom size='.06'/>"         \
  "<site name='s3' pos='0 0 .05'/></body></body></body>"                                          \
  "<body name='c' pos='.5 .2 2'><freejoint/><geom type='box' size='.1 .08 .05'/>"                 \
  "<site name='s2' pos='.05 .02 .03' euler='-30 5 60'/></body>"                                   \
  "<body name='e' pos='.9 .2 2'><freejoint/><geom type='box' size='.1 .08 .05'/>"                 \
  "<site name='s4' pos='-.05 .02 .03'/></body>"                                                   \
  "<body pos='0 1 1.5'><joint name='j1' axis='0 1 0' damping='.02'/>"                             \
  "<geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/><body pos='.1 0 -.4'>"                \
  "<joint name='j2' axis='1 1 0' damping='.01'/><geom type='capsule' fromto='0 0 0 .1 0 -.2' "    \
  "size='.03'/><site name='s5' pos='0 0 -.15'/></body></body>"                                    \
  "<body pos='0 1.5 1.5'><joint name='j3' axis='0 1 1' damping='.02'/>"                           \
  "<geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/><site name='s6' pos='0 0 -.25'/>"     \
  "</body><site name='w' pos='1.2 .3 2.5'/><site name='w2' pos='0 1.2 1.8'/></worldbody>"         \
  "<tendon><spatial range='0 .55' frictionloss='.2' solimpfriction='.8 .9 .01'><site site='w'/>"  \
  "<site site='s4'/></spatial><fixed range='-.05 .05' frictionloss='.1' armature='.05'>"          \
  "<joint joint='j1' coef='1'/><joint joint='j2' coef='-.7'/></fixed>"                            \
  "<spatial name='t3' armature='.05'><site site='w2'/><site site='s5'/></spatial>"                \
  "<spatial name='t4' damping='.3'><site site='w2'/><site site='s6'/></spatial></tendon>"         \
  "<equality><connect " connect " solimp='.8 .95 .1 .5 2'/><weld " weld " torquescale='.7' "      \
  "solimp='.8 .95 .05 .5 2'/>"                                                                    \
  "<joint joint1='j3' joint2='j1' polycoef='.1 .8 .5 -.2 .1' solimp='.8 .95 .5 .5 2'/>"           \
  "<tendon tendon1='t3' tendon2='t4' polycoef='.02 .8 .9' solimp='.8 .95 .1 .5 2'/></equality>"   \
  "</mujoco>"

// A belt, and a ball with a surface that turns.
static const char kBelts[] =
  "<mujoco><option timestep='0.002' cone='elliptic'/><default><geom condim='6' "
  "friction='.8 .05 .03'/></default><worldbody>"
  "<body pos='0 0 .5'><joint axis='0 1 .1'/><joint type='slide' axis='0 0 1' stiffness='800' "
  "damping='20'/><geom type='box' size='.5 .3 .05' surfacevel='.4 .1 .2 .3 -.2 .5'/></body>"
  "<body pos='.1 .02 .64'><freejoint/><geom size='.1' surfacevel='0 0 0 1 2 3'/></body>"
  "<body pos='-.2 .02 .62'><freejoint/><geom type='box' size='.1 .08 .08'/></body>"
  "</worldbody></mujoco>";

// What sticks, also across a gap.
#define STICKY(cone)                                                                              \
  "<mujoco><option timestep='0.002' cone='" cone "'/><default><geom condim='4' gap='.02' "        \
  "margin='.02' adhesion='3'/></default><worldbody>"                                              \
  "<body pos='0 0 .5'><joint axis='0 1 .1' damping='.1' stiffness='30'/>"                         \
  "<geom type='box' size='.5 .3 .05'/></body>"                                                    \
  "<body pos='.1 .02 .645'><freejoint/><geom size='.1' mass='.2'/></body>"                        \
  "<body pos='-.2 .02 .66'><freejoint/><geom size='.1' mass='.2'/></body>"                        \
  "</worldbody></mujoco>"

// Strong dampers that are not linear, a fluid, a heavy tendon: what integrators solve with varies.
static const char kDampers[] =
  "<mujoco><option timestep='0.005' density='900' viscosity='.4'/><worldbody>"
  "<site name='w' pos='.3 .2 .6'/>"
  "<body><joint axis='0 1 .2' damping='.3 .2 .1'/><geom type='capsule' fromto='0 0 0 .4 0 0' "
  "size='.03'/><body pos='.4 0 0'><joint type='ball' damping='.1 .05 .02'/>"
  "<geom type='capsule' fromto='0 0 0 .3 .1 0' size='.03'/><site name='s' pos='.2 .1 0'/>"
  "</body></body><body pos='0 1 0'><freejoint/><geom type='box' size='.1 .05 .2'/></body>"
  "</worldbody><tendon><spatial armature='3' damping='1'><site site='w'/><site site='s'/>"
  "</spatial></tendon></mujoco>";

#define BODY_ROWS                                                                                 \
  ROWS("body1='tip' body2='c' anchor='0 0 .02'",                                                  \
       "body1='c' body2='e' relpose='-.35 .02 .03 1 .1 .05 -.02'")
#define SITE_ROWS ROWS("site1='s3' site2='s2'", "site1='s2' site2='s4'")

#endif  // DJ_TESTS_MJ_ROWS_H_
