#include "codesign_chains/chains.h"
int main(int argc,char**argv){djvReport r={0};chains_check(&r,argc>1);return djv_finish(&r);}
