#if os(Linux)
internal import CDirectLinux
#endif

/// Gives free memory inside the heap back to the system, where the allocator would keep it.
///
/// Walks the whole heap with its locks held, a matter of milliseconds: only after much has been freed, and
/// not on a loop.
package func trimHeap() {
    #if os(Linux)
    direct_trim_heap()
    #endif
}

/// Makes all threads of the process share one heap, before any is started: glibc otherwise gives each a heap of its
/// own that grows by a system call every few pages. For programs, not for libraries: it is the host's decision.
package func shareOneHeap() {
    #if canImport(Glibc)
    _ = mallopt(M_ARENA_MAX, 1)
    #endif
}
