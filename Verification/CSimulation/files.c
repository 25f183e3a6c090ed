// The definitions of functions for files: those below one folder are simulated. See simulation.h.
#ifdef __linux__
#define _GNU_SOURCE
#include "seam.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/simulated/"
#define IS_PATH(path) (is_inside && strncmp(path, FOLDER, sizeof FOLDER - 1) == 0)

const char *sim_folder(void) { return FOLDER; }

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (!IS_PATH(path)) return real(path, flags, mode);
    bool creates = flags & O_CREAT, is_exclusive = flags & O_EXCL, appends = flags & O_APPEND;
    return (int)reported(simulated.open_file(path, creates, is_exclusive, appends));
}

ssize_t read(int descriptor, void *buffer, size_t count) {
    REAL(read);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count);
    pause_thread(simulated.read_time(descriptor));
    return reported(simulated.read_file(descriptor, buffer, count, -1));
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
    REAL(pread);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count, offset);
    return reported(simulated.read_file(descriptor, buffer, count, offset));
}

ssize_t pwrite(int descriptor, const void *buffer, size_t count, off_t offset) {
    REAL(pwrite);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count, offset);
    return reported(simulated.write_file(descriptor, buffer, count, offset));
}

int ftruncate(int descriptor, off_t size) {
    REAL(ftruncate);
    return SIMULATES(descriptor) ? (int)reported(simulated.truncate_file(descriptor, size)) : real(descriptor, size);
}

int fsync(int descriptor) {
    REAL(fsync);
    return SIMULATES(descriptor) ? (int)reported(simulated.settle_file(descriptor)) : real(descriptor);
}

int flock(int descriptor, int operation) {
    REAL(flock);
    if (!SIMULATES(descriptor)) return real(descriptor, operation);
    return (int)reported(simulated.lock_file(descriptor, (operation & LOCK_EX) != 0));
}

int rename(const char *path, const char *other) {
    REAL(rename);
    return IS_PATH(path) ? (int)reported(simulated.rename_file(path, other)) : real(path, other);
}

int unlink(const char *path) {
    REAL(unlink);
    return IS_PATH(path) ? (int)reported(simulated.remove_file(path)) : real(path);
}

// MARK: Facts of files and folders

static int reported_facts(int result, const struct sim_facts *found, struct stat *facts) {
    if (result < 0) return (int)reported(result);
    memset(facts, 0, sizeof *facts);
    facts->st_mode = found->is_folder ? S_IFDIR | 0700 : S_IFREG | 0600;
    facts->st_ino = (ino_t)found->number;
    facts->st_size = found->size;
    facts->st_mtim.tv_sec = found->time;
    facts->st_nlink = 1;
    facts->st_uid = geteuid();
    return 0;
}

int fstat(int descriptor, struct stat *facts) {
    REAL(fstat);
    if (!SIMULATES(descriptor)) return real(descriptor, facts);
    struct sim_facts found = {0};
    int result = simulated.find_open_file(descriptor, &found);
    return reported_facts(result, &found, facts);
}

int stat(const char *restrict path, struct stat *restrict facts) {
    static int (*real)(const char *restrict, struct stat *restrict);
    if (!real) real = (int (*)(const char *restrict, struct stat *restrict))system_symbol(RTLD_NEXT, "stat");
    if (!IS_PATH(path)) return real(path, facts);
    struct sim_facts found = {0};
    int result = simulated.find_file(path, &found);
    return reported_facts(result, &found, facts);
}

int lstat(const char *restrict path, struct stat *restrict facts) {
    REAL(lstat);
    return IS_PATH(path) ? stat(path, facts) : real(path, facts);
}

int futimens(int descriptor, const struct timespec times[2]) {
    REAL(futimens);
    return SIMULATES(descriptor) ? (int)reported(simulated.touch_file(descriptor)) : real(descriptor, times);
}

// All simulated files have one user, and permissions that nothing changes: as on a file system that has none.
int fchmod(int descriptor, mode_t mode) {
    REAL(fchmod);
    return SIMULATES(descriptor) ? (int)reported(-EPERM) : real(descriptor, mode);
}

int fchown(int descriptor, uid_t user, gid_t group) {
    REAL(fchown);
    return SIMULATES(descriptor) ? (int)reported(-EPERM) : real(descriptor, user, group);
}

// MARK: Files of an open folder

#define LONGEST_PATH 1024

// Returns the path of a name in a simulated folder; NULL after an error.
static const char *path_in(int folder, const char *name, char *buffer) {
    int length = simulated.name_folder(folder, buffer, LONGEST_PATH);
    if (length < 0) return reported(length), NULL;
    if (strcmp(name, ".") == 0) return buffer;
    snprintf(buffer + length, (size_t)(LONGEST_PATH - length), "/%s", name);
    return buffer;
}

// Whether a name is that of a simulated file by itself, and not by its folder.
#define IS_PATH_AT(folder, name) ((folder) == AT_FDCWD && IS_PATH(name))

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return IS_PATH(path) ? (int)reported(simulated.make_folder(path)) : real(path, mode);
}

int openat(int folder, const char *name, int flags, ...) {
    REAL(openat);
    va_list list;
    va_start(list, flags);
    bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = flags & O_CREAT || is_unnamed ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (IS_PATH_AT(folder, name)) return open(name, flags, mode);
    // As on a file system where every file has a name.
    if (SIMULATES(folder) && is_unnamed) return reported(-EOPNOTSUPP);
    if (!SIMULATES(folder)) return real(folder, name, flags, mode);
    char buffer[LONGEST_PATH];
    const char *path = path_in(folder, name, buffer);
    return path ? open(path, flags, mode) : -1;
}

int fstatat(int folder, const char *restrict name, struct stat *restrict facts, int flags) {
    REAL(fstatat);
    if (IS_PATH_AT(folder, name)) return stat(name, facts);
    if (!SIMULATES(folder)) return real(folder, name, facts, flags);
    char buffer[LONGEST_PATH];
    const char *path = path_in(folder, name, buffer);
    return path ? stat(path, facts) : -1;
}

int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(mkdirat);
    if (IS_PATH_AT(folder, name)) return mkdir(name, mode);
    if (!SIMULATES(folder)) return real(folder, name, mode);
    char buffer[LONGEST_PATH];
    const char *path = path_in(folder, name, buffer);
    return path ? mkdir(path, mode) : -1;
}

// As on a file system where a file has one name.
int linkat(int folder, const char *name, int other_folder, const char *other, int flags) {
    REAL(linkat);
    return SIMULATES(other_folder) ? (int)reported(-EPERM) : real(folder, name, other_folder, other, flags);
}

int renameat(int folder, const char *name, int other_folder, const char *other) {
    REAL(renameat);
    if (IS_PATH_AT(folder, name)) return rename(name, other);
    if (!SIMULATES(folder)) return real(folder, name, other_folder, other);
    char buffer[LONGEST_PATH], other_buffer[LONGEST_PATH];
    const char *path = path_in(folder, name, buffer), *place = path_in(other_folder, other, other_buffer);
    return path && place ? rename(path, place) : -1;
}

ssize_t readlinkat(int folder, const char *restrict name, char *restrict buffer, size_t count) {
    REAL(readlinkat);
    // No simulated file is a link.
    return SIMULATES(folder) || IS_PATH_AT(folder, name) ? reported(-EINVAL) : real(folder, name, buffer, count);
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    if (IS_PATH_AT(folder, name)) return unlink(name);
    if (!SIMULATES(folder)) return real(folder, name, flags);
    char buffer[LONGEST_PATH];
    const char *path = path_in(folder, name, buffer);
    return path ? unlink(path) : -1;
}

// The listings that are open. A pointer to one of them stands for the library's own type.
static struct listing { int descriptor, place; struct dirent entry; } listings[8];
#define MOST_LISTINGS (int)(sizeof listings / sizeof *listings)
#define IS_LISTING(pointer) \
    ((char *)(pointer) >= (char *)listings && (char *)(pointer) < (char *)(listings + MOST_LISTINGS))

DIR *fdopendir(int descriptor) {
    REAL(fdopendir);
    if (!SIMULATES(descriptor)) return real(descriptor);
    for (int i = 0; i < MOST_LISTINGS; i++) {
        if (listings[i].descriptor) continue;
        listings[i] = (struct listing){.descriptor = descriptor};
        return (DIR *)&listings[i];
    }
    errno = EMFILE;
    return NULL;
}

struct dirent *readdir(DIR *pointer) {
    REAL(readdir);
    if (!IS_LISTING(pointer)) return real(pointer);
    struct listing *listing = (struct listing *)pointer;
    char *name = listing->entry.d_name;
    int length = simulated.list_folder(
        listing->descriptor, listing->place++, name, sizeof listing->entry.d_name
    );
    if (length < 0) reported(length);
    return length > 0 ? &listing->entry : NULL;
}

int closedir(DIR *pointer) {
    REAL(closedir);
    if (!IS_LISTING(pointer)) return real(pointer);
    int descriptor = ((struct listing *)pointer)->descriptor;
    *(struct listing *)pointer = (struct listing){0};
    return close(descriptor);
}
#endif
