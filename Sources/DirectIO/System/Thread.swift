#if canImport(Darwin)
internal import Darwin
#else
internal import CDirectLinux
internal import Glibc
#endif

/// Runs `body` on a new detached thread.
///
/// This is a nonisolated function, because a closure formed on the main actor would trap on another thread.
///
/// - Returns: The error if no thread could be started, else `nil`.
nonisolated package func startDetachedThread(
    named name: StaticString,
    _ context: UnsafeMutableRawPointer,
    body: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
) -> SystemError? {
    let start = UnsafeMutablePointer<ThreadStart>.allocate(capacity: 1)
    start.initialize(to: ThreadStart(name: name, context: context, body: body))
    // Signals belong to the host's threads. The new thread inherits a mask that blocks all but the
    // synchronous ones, which crash reporters must see.
    var others = sigset_t()
    var before = sigset_t()
    sigfillset(&others)
    for own in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&others, own) }
    pthread_sigmask(SIG_SETMASK, &others, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    // Detached from the start: the address sanitizer keeps a thread that is detached later on its list after
    // its end, and then looks in vain for the stack of another one with its number.
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let code = pthread_create(&thread, &attributes, { runThread($0) }, start)
    guard code == 0 else {
        start.deinitialize(count: 1)
        start.deallocate()
        return SystemError("pthread_create", code: code)
    }
    return nil
}

private struct ThreadStart {
    var name: StaticString
    var context: UnsafeMutableRawPointer
    var body: @convention(c) (UnsafeMutableRawPointer) -> Void
}

nonisolated private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let pointer = argument.assumingMemoryBound(to: ThreadStart.self)
    let start = pointer.move()
    pointer.deallocate()
    start.name.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { name in
            guard let base = name.baseAddress else { return }
            #if canImport(Darwin)
            pthread_setname_np(base)
            #else
            direct_name_this_thread(base)
            #endif
        }
    }
    start.body(start.context)
    return nil
}
