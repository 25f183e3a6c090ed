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
