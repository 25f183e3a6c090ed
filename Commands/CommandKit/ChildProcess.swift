#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import CDirectLinux
internal import Glibc
#endif

/// A process that this one has started.
package struct ChildProcess: Sendable {
    /// Its number. If it leads a group, this is the group's number, too.
    package let id: Int32

    /// It could not be started.
    package struct NotStarted: Error {
        /// The command.
        package let command: String
        /// The value of `errno`.
        package let code: Int32

        package init(command: String, code: Int32) { (self.command, self.code) = (command, code) }
    }

    /// The descriptors that are its standard ones. One that is `nil` is `/dev/null`.
    package struct Streams {
        package var input: Int32?
        package var output: Int32?
        package var errors: Int32?
        /// One more, which has the number 3 in the process.
        package var fourth: Int32?

        package init(input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil) {
            (self.input, self.output, self.errors) = (input, output, errors)
        }
    }

    /// How a process ended.
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts a command, which is searched in PATH unless it contains a slash.
    ///
    /// It gets no descriptor but those, unless told. One that it held open, such as the end of another
    /// child's pipe, would keep the other from seeing the end of its input.
    ///
    /// - Parameters:
    ///   - environment: The variables, each as `NAME=VALUE`.
    ///   - leadsGroup: Whether it leads a process group, so that its own children can be killed with it, and
    ///     has the signals as a shell sets them.
    package init(
        _ command: String,
        _ arguments: [String],
        environment: [String],
        streams: Streams,
        leadsGroup: Bool = false
    ) throws(NotStarted) {
        try self.init(
            words: ([command] + arguments).map { Array($0.utf8) },
            environment: environment.map { Array($0.utf8) },
            streams: streams,
            leadsGroup: leadsGroup
        )
    }

    /// The same for words and variables of any bytes, which need not be text.
    ///
    /// - Parameter inherits: Whether it gets the descriptors that this process was started with as well:
    ///   those that are not closed by the start of another program.
    package init(
        words: [[UInt8]],
        environment: [[UInt8]],
        streams: Streams,
        leadsGroup: Bool = false,
        inherits: Bool = false
    ) throws(NotStarted) {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in [streams.input, streams.output, streams.errors].enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        if let fourth = streams.fourth { posix_spawn_file_actions_adddup2(&actions, fourth, 3) }
        #if canImport(Glibc)
        if !inherits { direct_close_from(&actions, streams.fourth == nil ? 3 : 4) }
        #endif
        // Swift's threads block signals. The child would inherit that, and no signal could end it.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        #if canImport(Darwin)
        var flags = POSIX_SPAWN_SETSIGMASK | (inherits ? 0 : POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        var flags = POSIX_SPAWN_SETSIGMASK
        #endif
        if leadsGroup {
            for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setpgroup(&attributes, 0)
            flags |= POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let texts = words.map(Self.copied) + [nil]
        let variables = environment.map(Self.copied) + [nil]
        defer { for text in texts + variables { free(text) } }
        var id = pid_t()
        guard let command = texts[0] else { throw NotStarted(command: "", code: ENOENT) }
        let code = posix_spawnp(&id, command, &actions, &attributes, texts, variables)
        guard code == 0 else { throw NotStarted(command: String(cString: command), code: code) }
        self.id = id
    }

    private static func copied(_ text: [UInt8]) -> UnsafeMutablePointer<CChar>? {
        (text + [0]).withUnsafeBytes {
            $0.assumingMemoryBound(to: CChar.self).baseAddress.flatMap { strdup($0) }
        }
    }

    /// Returns how the process ended. Blocks until it has.
    package func waitForEnd() -> Ending {
        while true { if let ending = ending(options: 0) { return ending } }
    }

    /// Returns how the process ended, or `nil` if it is still running. To be asked no more when it has ended.
    package func endingIfOver() -> Ending? { ending(options: WNOHANG) }

    private func ending(options: Int32) -> Ending? {
        var status: Int32 = 0
        let result = waitpid(id, &status, options)
        if result < 0, errno != EINTR {
            // There is no status: SIGCHLD is ignored, or another has waited. That is no success; the number
            // is that of a shell's `wait`.
            return .exited(127)
        }
        guard result == id else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }
}

/// A pipe whose ends no child process gets by itself.
package struct ChildPipe: Sendable {
    package let reading: Int32
    package let writing: Int32

    /// `nil` if the system has no descriptors for it.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    package func closeReading() { close(reading) }
    package func closeWriting() { close(writing) }
}
