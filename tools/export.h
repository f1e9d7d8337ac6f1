// A model's links as files for building: closed outward shells, one for each geom with a volume, in
// the link's frame, metres.

#ifndef DJ_TOOLS_EXPORT_H_
#define DJ_TOOLS_EXPORT_H_

#include "json_out.h"
#include "options.h"

#include <dijoco/model.h>

typedef struct ExportLink {
  char name[80];        // of the link, as files have it
  int nshell, nround;   // geoms, and those of them whose shell is inscribed in a round shape
  double volume;        // m^3, sum of what shells bound
  double thickness;     // m, least width of any geom
  bool united;          // there is a file of one watertight surface
  double united_volume; // m^3, what that bounds
  char note[300];       // why there is none, or ""
} ExportLink;

typedef struct Export {
  const char* format; // "stl" or "obj"
  int n;
  ExportLink* link; // (n)
} Export;

// Write the files that options->export asks for into the folder options->out, to be put in place by
// out_commit: of "stl" NAME.stl, all shells of a link, and where
// these are several NAME.scad, which unites them, and with OpenSCAD installed NAME_union.stl; of
// "obj" one file a shell, NAME_K.obj. Every shell and union is checked: each edge is of two
// triangles that face outward, its volume is positive, nothing crosses. Returns 0, or an exit
// status after its line on stderr.
int export_links(Export* out, const Options* options, const djModel* model);
void export_json(Json* out, const Export* e);
void export_print(const Export* e);
void export_free(Export* e);

#endif // DJ_TOOLS_EXPORT_H_
