/// Judges questions for HTTPS records, and what is dialled because of them.
extension ResolverJudge {
    /// Returns the host that is asked for; `nil` if there is none of the name.
    ///
    /// Records are asked for by those who want them, about the origin, and for `https` only. What is void
    /// leads nowhere.
    func host(of question: ResolverQuestion) -> Int? {
        let isForRecords = question.types == [ResolverQuestion.recordType]
        if let other = question.other(in: plan) {
            if other.binding.isVoid
                || world.plan.resolvers?.bindings(ofHost: other.host).contains(.malformed) == true
            {
                world.fault("records", "\(question.name) is asked for, which a void record names")
            }
            return other.host
        }
        let host = plan.hosts.indices.first {
            ResolverQuestion.recordName(ofHost: $0, in: plan) == question.name
        }
        // The target `.` is the name that the record has (section 2.5).
        let isOwn = host.map { plan.hosts[$0].isSecure && plan.resolvers?.records != nil } == true
        guard isForRecords else { return world.host(named: question.name) ?? (isOwn ? host : nil) }
        world.kernel.count("judge: question for records")
        guard let host, plan.resolvers?.records != nil, plan.hosts[host].isSecure else {
            world.fault("records", "\(question.name) is asked for")
            return nil
        }
        return host
    }

    /// A port is dialled that a record names, or the host's own. Where addresses wait for records, those come
    /// first.
    func judgePort(_ port: Int, ofHost host: Int) {
        guard let resolvers = plan.resolvers, resolvers.records != nil else { return }
        world.kernel.count("judge: port of a record")
        let bindings = resolvers.bindings(ofHost: host)
        let isNamed = plan.hosts[host].isSecure && bindings.contains(.port) && !bindings.contains(.malformed)
        if port == ResolverPlan.recordPort ? !isNamed : port != world.port(host) {
            world.fault("records", "port \(port) of \(Material.name(host)) is dialled")
        }
        if port == ResolverPlan.recordPort { world.recordPorts.insert(host) }
        let isFirst =
            bindings == [.port] && resolvers.records == .awaited && resolvers.isGood
            && resolvers.answersAtOnce
            && isCalm && plan.hosts[host].isSecure && !resolvers.endsWithSystem && !plan.namesMayVanish
            && plan.network.shortSends == 0
        if isFirst, port != ResolverPlan.recordPort, !world.recordPorts.contains(host) {
            world.fault("records", "\(Material.name(host)) is dialled at port \(port), against its record")
        }
    }
}
