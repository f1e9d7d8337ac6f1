// Writing files: a target gets its new content whole, or keeps the old.
//
// Bytes go to a temporary file in the target's folder, with a name that nobody can foresee; when
// they are complete it takes the target's name. Symbolic links are followed to where they lead
// (other hard links keep the old content). What replaces a file has its permissions, and its owner
// and group where the system allows it; a file that may not be written is not replaced. Devices and
// pipes are written straight, /dev/stdout and /dev/fd/N through the open descriptor.

#ifndef DIJOCO_FILE_H_
#define DIJOCO_FILE_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A file that is being written.
typedef struct djFile djFile;

// Start to write path. Errors of this and the following begin with the path.
DJ_API djStatus dj_openFile(djFile** file, const char* path, djError* err);

// Start to write path in its place, for others to read as it grows: what was there is gone, and what
// has been flushed stays whatever becomes of the process. Failures as above, and that another such
// file is being written there.
DJ_API djStatus dj_openLog(djFile** file, const char* path, djError* err);
// Hand what has been added to the system.
DJ_API void dj_flushFile(djFile* file);

// Add n bytes, or text as printf makes it. Failures are remembered for dj_finishFile.
DJ_API void dj_writeFile(djFile* file, const void* bytes, size_t n);
DJ_API DJ_FORMAT(2, 3) void dj_printFile(djFile* file, const char* format, ...);

// Bring everything to the disk, and close. The target is still what it was.
DJ_API djStatus dj_finishFile(djFile* file, djError* err);

// Put the files in place, finishing those that are not finished, and release them. When one of them
// fails, all targets are left as they were (pipes and devices have what was written to them).
// Groups that are put into one folder at once take turns.
DJ_API djStatus dj_commitFiles(djFile* const* file, int n, djError* err);
DJ_API djStatus dj_commitFile(djFile* file, djError* err);

// Release a file and leave the target as it was.
DJ_API void dj_discardFile(djFile* file);

// Path of the temporary file, or NULL where the target is written straight. A signal handler may
// ask for it and remove it.
DJ_API const char* dj_fileTemporary(const djFile* file);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_FILE_H_
