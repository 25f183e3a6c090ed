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
