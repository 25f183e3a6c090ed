#if os(Linux)
internal import CDirectLinux
#endif

/// Returns free memory in the heap to the system, where the allocator would keep it.
///
/// This walks the whole heap with its locks held, which takes milliseconds. Call it only after much memory
/// has been freed, and not on an event loop.
package func trimHeap() {
    #if os(Linux)
    direct_trim_heap()
    #endif
}

/// Makes all threads of the process share one heap. Call it before any thread is started.
///
/// glibc otherwise gives each thread its own heap, which grows by a system call every few pages. Only a
/// program may call this, not a library, since the decision is the host's.
package func shareOneHeap() {
    #if canImport(Glibc)
    _ = mallopt(M_ARENA_MAX, 1)
    #endif
}
