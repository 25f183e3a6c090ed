import Testing

/// Tries with a short limit first, and with longer ones where the machine is too busy for it.
func withGrowingLimits(
    _ location: SourceLocation = #_sourceLocation,
    _ succeeds: (Duration) async throws -> Bool
) async throws {
    for limit in [Duration.milliseconds(150), .milliseconds(900), .seconds(6)] {
        if try await succeeds(limit) { return }
    }
    Issue.record("not even with the longest limit", sourceLocation: location)
}

/// Far longer than anything takes that works, on any machine, and far shorter than what comes next if it does
/// not.
let deadline = Duration.seconds(15)
