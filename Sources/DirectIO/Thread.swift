#if canImport(Darwin)
internal import Darwin
#else
internal import CDirectLinux
internal import Glibc
#endif

/// Runs `body` on a thread of its own that nobody joins; says what failed if there is none.
///
/// A nonisolated function on purpose: a closure formed on the main actor would trap on another thread.
nonisolated package func startDetachedThread(
    named name: StaticString,
    _ context: UnsafeMutableRawPointer,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
) -> SystemError? {
    let start = UnsafeMutablePointer<ThreadStart>.allocate(capacity: 1)
    start.initialize(to: ThreadStart(name: name, context: context, body: body))
    // Signals are for the host's threads: ours inherits a mask of all but those that a thread brings upon itself,
    // which whoever reports crashes must see.
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
