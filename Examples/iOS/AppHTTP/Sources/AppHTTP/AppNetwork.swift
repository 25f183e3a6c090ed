#if canImport(Network)
public import DirectHTTP
import Dispatch
public import Network

extension HTTPClient {
    /// Forgets connections and addresses each time the device has changed its network. Keep the monitor as
    /// long as the client: it ends with its last reference.
    public func followNetwork() -> NWPathMonitor {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
            if path.status == .satisfied { self.forgetNetwork() }
        }
        monitor.start(queue: DispatchQueue(label: "direct-http.network"))
        return monitor
    }
}
#endif
