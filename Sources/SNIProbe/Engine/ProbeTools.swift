internal import DirectHTTP

/// What all probes of a run share.
final class ProbeTools: Sendable {
    let settings: ProbeSettings
    let loop: EventLoop
    let context: ContextSource
    let chains = ChainCache()

    init(_ settings: ProbeSettings, loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        context = ContextSource(settings)
    }
}

/// The one `SurveyContext` of a run, made while the first connections are.
final class ContextSource: Sendable {
    private let making: Task<Result<SurveyContext, TLSError>, Never>

    init(_ settings: ProbeSettings) {
        making = Task.detached { Self.make(settings) }
    }

    func value() async -> Result<SurveyContext, TLSError> {
        await making.value
    }

    static func make(_ settings: ProbeSettings) -> Result<SurveyContext, TLSError> {
        do throws(TLSError) {
            return .success(try SurveyContext(roots: settings.roots, versions: settings.versions))
        } catch {
            return .failure(error)
        }
    }
}
