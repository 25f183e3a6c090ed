// The definitions of functions for files: those below one folder are simulated. See simulation.h.
#ifdef __linux__
#define _GNU_SOURCE
#include "seam.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/simulated/"
#define IS_PATH(path) (is_inside && strncmp(path, FOLDER, sizeof FOLDER - 1) == 0)

const char *sim_folder(void) { return FOLDER; }
int sim_first_file(void) { return FIRST_FILE; }

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (!IS_PATH(path)) return real(path, flags, mode);
    return (int)reported(simulated.open_file(path, (flags & O_CREAT) != 0, (flags & O_EXCL) != 0));
}

ssize_t read(int descriptor, void *buffer, size_t count) {
    REAL(read);
    if (!IS_FILE(descriptor)) return real(descriptor, buffer, count);
    return reported(simulated.read_file(descriptor, buffer, count, -1));
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
    REAL(pread);
    if (!IS_FILE(descriptor)) return real(descriptor, buffer, count, offset);
    return reported(simulated.read_file(descriptor, buffer, count, offset));
}

ssize_t pwrite(int descriptor, const void *buffer, size_t count, off_t offset) {
    REAL(pwrite);
    if (!IS_FILE(descriptor)) return real(descriptor, buffer, count, offset);
    return reported(simulated.write_file(descriptor, buffer, count, offset));
}

int ftruncate(int descriptor, off_t size) {
    REAL(ftruncate);
    return IS_FILE(descriptor) ? (int)reported(simulated.truncate_file(descriptor, size)) : real(descriptor, size);
}

int fsync(int descriptor) {
    REAL(fsync);
    return IS_FILE(descriptor) ? (int)reported(simulated.settle_file(descriptor)) : real(descriptor);
}

int flock(int descriptor, int operation) {
    REAL(flock);
    if (!IS_FILE(descriptor)) return real(descriptor, operation);
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

// MARK: Facts of files. All simulated ones are regular.

static int regular(ssize_t number, int64_t size, struct stat *facts) {
    if (number < 0) return (int)reported(number);
    memset(facts, 0, sizeof *facts);
    facts->st_mode = S_IFREG | 0600;
    facts->st_ino = (ino_t)number;
    facts->st_size = size;
    facts->st_nlink = 1;
    facts->st_uid = geteuid();
    return 0;
}

int fstat(int descriptor, struct stat *facts) {
    REAL(fstat);
    if (!IS_FILE(descriptor)) return real(descriptor, facts);
    int64_t size = 0;
    ssize_t number = simulated.find_open_file(descriptor, &size);
    return regular(number, size, facts);
}

int stat(const char *restrict path, struct stat *restrict facts) {
    static int (*real)(const char *restrict, struct stat *restrict);
    if (!real) real = (int (*)(const char *restrict, struct stat *restrict))system_symbol(RTLD_NEXT, "stat");
    if (!IS_PATH(path)) return real(path, facts);
    int64_t size = 0;
    ssize_t number = simulated.find_file(path, &size);
    return regular(number, size, facts);
}

int lstat(const char *restrict path, struct stat *restrict facts) {
    REAL(lstat);
    return IS_PATH(path) ? stat(path, facts) : real(path, facts);
}
#endif
