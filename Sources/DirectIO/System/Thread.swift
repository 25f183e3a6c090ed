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
    let code = pthread_create(&thread, nil, { runThread($0) }, start)
    guard code == 0 else {
        start.deinitialize(count: 1)
        start.deallocate()
        return SystemError("pthread_create", code: code)
    }
    #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
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
