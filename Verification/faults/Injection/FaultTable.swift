internal import CFaults
internal import Glibc

/// One way in which a call of a function may go wrong.
struct Fault: Sendable {
    var name: String
    let kind: flt_kind
    let value: Int32
    /// Whether the caller of the client must not notice it.
    var isHarmless = false
    /// Whether it happens to all calls from the chosen one on.
    var isLasting = false
}

/// The faults of each function: the errors in its manual that do not mean a mistake in the caller's code,
/// short counts, delays, and answers that say that something failed.
enum FaultTable {
    /// The faults of a function, each to happen to one call.
    static func faults(of function: String) -> [Fault] {
        let (lasting, harmless) = errors[function] ?? ("", "")
        return parse(lasting, isHarmless: false) + parse(harmless, isHarmless: true)
            + (others[function] ?? [])
    }

    /// The ends of a process, or its interruption, before a call.
    static let ends = [
        Fault(name: "killed", kind: flt_kill, value: 0), Fault(name: "stopped", kind: flt_stop, value: 0),
    ]

    /// The faults of a function that last: what runs out stays away for a while.
    static func lastingFaults(of function: String) -> [Fault] {
        (shortages[function] ?? []).map { fault in
            var lasting = fault
            (lasting.name, lasting.isLasting) = (fault.name + "+", true)
            return lasting
        }
    }

    /// The function's errors, and those of them that the caller must not notice.
    private static let errors: [String: (some: String, harmless: String)] = [
        "socket": ("EACCES EAFNOSUPPORT EINVAL ENOBUFS ENOMEM EPROTONOSUPPORT", "EMFILE ENFILE"),
        "connect": (
            "EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN ECONNREFUSED EHOSTUNREACH ENETUNREACH EPERM ETIMEDOUT",
            "EINTR"
        ),
        "recv": ("ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOMEM ETIMEDOUT", "EINTR"),
        "send": (
            "EACCES ECONNRESET EHOSTUNREACH ENETDOWN ENETUNREACH ENOBUFS ENOMEM EPIPE ETIMEDOUT", "EINTR"
        ),
        "accept4": ("", "ECONNABORTED EINTR EMFILE ENFILE ENOBUFS ENOMEM"),
        "splice": ("ECONNRESET ENOMEM EPIPE ETIMEDOUT", "EINTR"),
        "pipe2": ("", "EMFILE ENFILE"),
        "shutdown": ("", "ENOTCONN"),
        "setsockopt": ("", "EINVAL ENOMEM ENOPROTOOPT"),
        "getsockopt": ("ENOBUFS", ""),
        "getpeername": ("ENOBUFS ENOTCONN", ""),
        "epoll_create1": ("", "EMFILE ENFILE ENOMEM"),
        "eventfd": ("", "EMFILE ENFILE ENODEV ENOMEM"),
        "epoll_ctl": ("ENOMEM ENOSPC", ""),
        "epoll_wait": ("", "EINTR"),
        "pthread_create": ("EAGAIN", ""),
        "getentropy": ("", "EIO ENOSYS"),
        "open": (
            "EACCES EBUSY EDQUOT EEXIST EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOMEM ENOSPC ENOTDIR "
                + "ENXIO EOVERFLOW EPERM EROFS ETXTBSY EAGAIN", "EINTR"
        ),
        "openat": (
            "EACCES EBUSY EDQUOT EEXIST EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOMEM ENOSPC ENOTDIR "
                + "ENXIO EOVERFLOW EPERM EROFS ETXTBSY EAGAIN", "EINTR"
        ),
        "read": ("EAGAIN EIO EISDIR", "EINTR"),
        "pread": ("EAGAIN EIO EISDIR ENXIO EOVERFLOW", "EINTR"),
        "write": ("EAGAIN EDQUOT EFBIG EIO ENOSPC EPERM", "EINTR"),
        "pwrite": ("EAGAIN EDQUOT EFBIG EIO ENOSPC EPERM", "EINTR"),
        "fsync": ("EDQUOT EINVAL EIO ENOSPC EROFS", "EINTR"),
        "ftruncate": ("EFBIG EIO EPERM", "EINTR"),
        "flock": ("EAGAIN ENOLCK", "EINTR"),
        "fstat": ("EIO ENOMEM EOVERFLOW", ""),
        "fstatat": ("EACCES EIO ELOOP ENOENT ENOMEM EOVERFLOW", ""),
        "renameat": ("EACCES EBUSY EDQUOT EIO EISDIR EMLINK ENOENT ENOMEM ENOSPC EPERM EROFS EXDEV", ""),
        "readlinkat": ("EACCES EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR", ""),
        // The group may be one that the process is not in.
        "fchown": ("", "EIO EPERM EROFS"),
        "fchmod": ("EIO EPERM EROFS", ""),
        "unlinkat": ("EACCES EBUSY EIO ENOMEM EPERM EROFS", ""),
        "linkat": ("EACCES EDQUOT EEXIST EIO ELOOP EMLINK ENOENT ENOMEM ENOSPC EPERM EROFS EXDEV", ""),
        "mkdirat": (
            "EACCES EDQUOT ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EIO", ""
        ),
        "access": ("EACCES EIO ELOOP ENOENT ENOMEM ENOTDIR EROFS", ""),
        "opendir": ("EACCES EMFILE ENFILE ENOENT ENOMEM ENOTDIR", ""),
        "fdopendir": ("ENOMEM", ""),
        "readdir": ("EIO ENOENT EOVERFLOW", ""),
        "futimens": ("", "EACCES EPERM EROFS EIO"),
        "fopen": ("EACCES EIO ELOOP EMFILE ENFILE ENOENT ENOMEM", "EINTR"),
        "fread": ("EIO EISDIR EAGAIN ENOMEM", "EINTR"),
        "fgets": ("EIO EISDIR EAGAIN ENOMEM EINTR", ""),
        "allocation": ("ENOMEM", ""),
    ]

    private static let slow = Fault(name: "30 ms late", kind: flt_slow, value: 30, isHarmless: true)
    private static let oneByte = Fault(name: "1 byte", kind: flt_short, value: 1, isHarmless: true)
    private static let noByte = Fault(name: "0 bytes", kind: flt_nothing, value: 0)
    private static let wouldBlock = Fault(
        name: "would block",
        kind: flt_would_block,
        value: 0,
        isHarmless: true
    )

    private static let others: [String: [Fault]] = [
        "recv": [oneByte, wouldBlock, Fault(name: "end", kind: flt_nothing, value: 0), slow],
        "send": [oneByte, wouldBlock, slow],
        // An end that it tells may be urgent data, and is none before recv says so.
        "splice": [
            oneByte, wouldBlock, Fault(name: "end", kind: flt_nothing, value: 0, isHarmless: true), slow,
        ],
        "read": [oneByte, slow],
        "pread": [oneByte, noByte, slow],
        "write": [oneByte, noByte, slow],
        "pwrite": [oneByte, noByte, slow],
        "open": [slow], "openat": [slow], "fsync": [slow], "renameat": [slow],
        "connect": [slow],
        "epoll_wait": [Fault(name: "no event", kind: flt_nothing, value: 0, isHarmless: true)],
        "close": ["EINTR", "EIO", "ENOSPC", "EDQUOT"].map {
            Fault(name: $0, kind: flt_late_error, value: codes[$0] ?? EIO, isHarmless: true)
        },
        "getsockopt": ["ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EACCES"].map
        {
            Fault(name: "pending \($0)", kind: flt_answer, value: codes[$0] ?? EIO)
        },
        "getaddrinfo": [
            Fault(name: "EAI_AGAIN", kind: flt_answer, value: EAI_AGAIN),
            Fault(name: "EAI_FAIL", kind: flt_answer, value: EAI_FAIL),
            Fault(name: "EAI_FAMILY", kind: flt_answer, value: EAI_FAMILY),
            Fault(name: "EAI_MEMORY", kind: flt_answer, value: EAI_MEMORY),
            Fault(name: "EAI_NONAME", kind: flt_answer, value: EAI_NONAME),
            Fault(name: "EAI_SERVICE", kind: flt_answer, value: EAI_SERVICE),
            Fault(name: "EAI_OVERFLOW", kind: flt_answer, value: EAI_OVERFLOW),
            // Of GNU programs only.
            Fault(name: "EAI_NODATA", kind: flt_answer, value: -5),
            Fault(name: "EAI_ADDRFAMILY", kind: flt_answer, value: -9),
            Fault(name: "EAI_SYSTEM EMFILE", kind: flt_answer, value: 1000 + EMFILE, isHarmless: true),
            Fault(name: "EAI_SYSTEM ENFILE", kind: flt_answer, value: 1000 + ENFILE, isHarmless: true),
            Fault(name: "EAI_SYSTEM ENOMEM", kind: flt_answer, value: 1000 + ENOMEM),
            Fault(name: "EAI_SYSTEM ECONNREFUSED", kind: flt_answer, value: 1000 + ECONNREFUSED),
            slow,
        ],
        "inflateInit2_": [Fault(name: "Z_MEM_ERROR", kind: flt_answer, value: -4)],
    ]

    private static let shortages: [String: [Fault]] = [
        "socket": parse("EMFILE ENOBUFS", isHarmless: false),
        "recv": [Fault(name: "256 bytes", kind: flt_short, value: 256, isHarmless: true)],
        "send": [Fault(name: "256 bytes", kind: flt_short, value: 256, isHarmless: true)],
        "splice": [Fault(name: "256 bytes", kind: flt_short, value: 256, isHarmless: true)],
        "read": [Fault(name: "4096 bytes", kind: flt_short, value: 4096, isHarmless: true)],
        "write": [Fault(name: "4096 bytes", kind: flt_short, value: 4096, isHarmless: true)],
        "pread": [Fault(name: "4096 bytes", kind: flt_short, value: 4096, isHarmless: true)],
        "pwrite": [
            Fault(name: "4096 bytes", kind: flt_short, value: 4096, isHarmless: true)
        ] + parse("ENOSPC", isHarmless: false),
        "pthread_create": parse("EAGAIN", isHarmless: false),
        "open": parse("EMFILE", isHarmless: false), "openat": parse("EMFILE", isHarmless: false),
        "fopen": parse("EMFILE", isHarmless: false),
        "epoll_ctl": parse("ENOSPC", isHarmless: false),
        "getaddrinfo": [Fault(name: "EAI_AGAIN", kind: flt_answer, value: EAI_AGAIN)],
        "allocation": parse("ENOMEM", isHarmless: false),
    ]

    private static func parse(_ names: String, isHarmless: Bool) -> [Fault] {
        names.split(separator: " ").map { name in
            let code = codes[String(name)]
            precondition(code != nil, "\(name) has no number")
            return Fault(name: String(name), kind: flt_error, value: code ?? EIO, isHarmless: isHarmless)
        }
    }

    private static let codes: [String: Int32] = [
        "EACCES": EACCES, "EADDRINUSE": EADDRINUSE, "EADDRNOTAVAIL": EADDRNOTAVAIL,
        "EAFNOSUPPORT": EAFNOSUPPORT,
        "EAGAIN": EAGAIN, "EBUSY": EBUSY, "ECONNABORTED": ECONNABORTED, "ECONNREFUSED": ECONNREFUSED,
        "ECONNRESET": ECONNRESET,
        "EDQUOT": EDQUOT,
        "EEXIST": EEXIST, "EFBIG": EFBIG, "EHOSTUNREACH": EHOSTUNREACH, "EINTR": EINTR, "EINVAL": EINVAL,
        "EIO": EIO,
        "EISDIR": EISDIR, "ELOOP": ELOOP, "EMFILE": EMFILE, "EMLINK": EMLINK, "ENAMETOOLONG": ENAMETOOLONG,
        "ENETDOWN": ENETDOWN, "ENETUNREACH": ENETUNREACH, "ENFILE": ENFILE, "ENOBUFS": ENOBUFS,
        "ENODEV": ENODEV,
        "ENOENT": ENOENT, "ENOMEM": ENOMEM, "ENOPROTOOPT": ENOPROTOOPT, "ENOSPC": ENOSPC, "ENOSYS": ENOSYS,
        "ENOLCK": ENOLCK, "ENOTCONN": ENOTCONN, "ENOTDIR": ENOTDIR, "ENXIO": ENXIO, "EOVERFLOW": EOVERFLOW,
        "EPERM": EPERM,
        "EPIPE": EPIPE,
        "EPROTONOSUPPORT": EPROTONOSUPPORT, "EROFS": EROFS, "ETIMEDOUT": ETIMEDOUT, "ETXTBSY": ETXTBSY,
        "EXDEV": EXDEV,
    ]
}
