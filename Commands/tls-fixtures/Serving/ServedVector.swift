/// What a person needs to try a vector by hand.
struct ServedVector {
    let head: VectorHead
    /// What distinguishes this trial from others of the vector.
    let label: String
    let job: Job

    var text: String {
        var lines = [
            "\(head.topic.rawValue)  \(head.name)\(label.isEmpty ? "" : ", \(label)")",
            "  why       \(head.why) (\(head.reference))", "  expected  \(head.expectation)",
            "  roots     \(job.roots)",
        ]
        for route in job.routes {
            lines.append("  connect   \(route.authority) to \(route.addresses.joined(separator: ", "))")
        }
        for request in job.requests { lines.append("  \(Self.command(for: request, job: job))") }
        lines.append("Press Enter for the next one, with new servers; end with Ctrl-C.\n")
        return Terminal.harmless(lines.joined(separator: "\n")) + "\n"
    }

    /// A command for curl that makes one request of the job.
    private static func command(for request: Job.Request, job: Job) -> String {
        var words = ["curl", "-q", "-sS", "-i", "--http1.1", "--noproxy", "*"]
        if request.url.hasPrefix("https:") { words += ["--cacert", job.roots] }
        for route in job.routes {
            guard let address = route.addresses.first else { continue }
            words += ["--connect-to", "\(route.authority):\(address)"]
        }
        if job.settings.follows { words.append("--location") }
        if job.settings.decodes { words.append("--compressed") }
        if request.method == "HEAD" { words.append("--head") }
        if request.method != "GET", request.method != "HEAD" { words += ["--request", request.method] }
        for field in job.settings.fields + request.fields {
            words += ["--header", "\(field.name.latin1): \(field.value.latin1)"]
        }
        if let body = request.body { words += ["--data-binary", body.latin1] }
        return (words + [request.url]).map(Shell.quoted).joined(separator: " ")
    }
}
