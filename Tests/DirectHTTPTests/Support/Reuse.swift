import DirectHTTP

extension Response {
    /// Whether it came over a connection that had served before.
    var isReused: Bool { transaction?.isReused == true }
}

extension BufferedResponse {
    /// Whether it came over a connection that had served before.
    var isReused: Bool { transaction?.isReused == true }
}
