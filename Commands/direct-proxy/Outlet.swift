internal import DirectCore
internal import DirectIO
internal import DirectProxy

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Where the run tells what happens.
struct Outlet: Sendable {
    /// Where reports go; `nil` for nowhere.
    private let reports: LineWriter?
    /// Where it is said what goes wrong; `nil` if nothing is to be said.
    private let complaints: LineWriter?
    private let writesJSON: Bool
    /// Programs without credentials, of which any on this machine can make as many as it likes.
    private let strangers = Tally()
    private let pauses = Tally()

    init(_ options: Options) throws(Mistake) {
        writesJSON = options.writesJSON
        let (descriptor, asJSON) = (try Self.descriptor(options), options.writesJSON)
        reports =
            try descriptor.map { (descriptor) throws(Mistake) in
                try LineWriter(descriptor) { count in
                    asJSON
                        ? "{\"left_out\":\(count)}" : "\(count) reports left out: they were not read in time"
                }
            }
        complaints =
            options.isQuiet ? nil : try LineWriter(2) { "direct-proxy: \($0) lines left out" }
    }

    func tell(_ event: LocalProxy.Event) {
        switch event {
        case .ended(let report):
            var line = ReportLine(report: report)
            if report.isByStranger {
                guard let count = strangers.next() else { return }
                line.count = count
            }
            reports?.put(writesJSON ? line.json : line.text)
        case .paused(let error):
            guard let count = pauses.next() else { return }
            complaints?.put(
                "direct-proxy: no connection is accepted for a moment: \(error); raise the limit (ulimit -n)"
                    + ReportLine.times(count)
            )
        case .restarted:
            complaints?.put(
                "direct-proxy: the system had ended the listening; it listens anew, with new credentials"
            )
        case .failed(let error):
            complaints?.put("direct-proxy: the system has ended the listening: \(error)")
        @unknown default: break
        }
    }

    /// Waits until all is written, but not for ever.
    func finish() {
        reports?.finish()
        complaints?.finish()
    }

    private static func descriptor(_ options: Options) throws(Mistake) -> Int32? {
        switch options.report {
        // A program's own output stays its own: what was dialled is told beside it.
        case nil: return options.program.isEmpty || options.isQuiet ? nil : 2
        case .standardError?: return 2
        case .file(let path)?:
            // Of a pipe: without waiting for a reader, which no signal would end.
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK
            let descriptor = open(path, flags, 0o600)
            guard descriptor >= 0 else {
                let why = errno == ENXIO ? "nobody reads this pipe" : errnoText(errno)
                throw Mistake(line: "--report \(path): \(why)", status: 66)
            }
            return descriptor
        }
    }
}
