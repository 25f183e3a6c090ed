import DirectHTTP
import DirectIO
import DirectTestTime

extension HTTPClient {
    /// A client for which no time passes.
    static func untimed(_ configure: (inout Configuration) -> Void = { _ in }) -> HTTPClient {
        HTTPClient { settings in
            settings.loop = .still
            configure(&settings)
        }
    }
}
