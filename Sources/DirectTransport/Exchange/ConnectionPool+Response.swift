package import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The end of a response, for the lease on its connection.
extension ConnectionPool {
    /// Ends the lease of a response that was read to its end: the connection goes back to the pool if it can be
    /// reused.
    package func conclude(_ reading: BodyReading, lease: Lease, at now: Instant) {
        let connection = reading.exchange.connection
        reading.observer?.note(.bodyEnded(bytes: reading.received, isWhole: true))
        if let upload = reading.upload {
            guard upload.isFinished else { return giveUp(reading, lease: lease) }
            connection.endDuplex()
        }
        if case .reusable = connection.reuse, !connection.hasUnparsedBytes, !connection.isRetired {
            checkIn(connection, lease: lease, at: now)
        } else {
            discard(connection, lease: lease)
        }
    }

    /// Ends the lease of a response that is not read to its end, and closes the connection.
    package func abandon(_ reading: BodyReading, lease: Lease) {
        reading.observer?.note(.bodyEnded(bytes: reading.received, isWhole: false))
        giveUp(reading, lease: lease)
    }

    /// Stops the upload and closes the connection.
    private func giveUp(_ reading: BodyReading, lease: Lease) {
        reading.upload?.cancel()
        discard(reading.exchange.connection, lease: lease)
    }
}
