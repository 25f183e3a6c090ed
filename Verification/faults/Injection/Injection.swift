internal import CFaults

/// A fault of one call, or of all calls from one on.
struct Injection: Sendable {
    let function: Int32
    let fault: Fault
    /// The number of the call, counted from 1.
    let call: Int64

    var functionName: String { Self.name(of: function) }

    /// The words that `--one` accepts.
    var words: [String] { [functionName, String(call), fault.name] }

    var asFault: flt_fault {
        flt_fault(
            function: function,
            first: call,
            last: fault.isLasting ? .max : call,
            kind: fault.kind,
            value: fault.value
        )
    }

    /// No fault: the calls are only counted.
    static let none = flt_fault(function: -1, first: 0, last: 0, kind: flt_none, value: 0)

    /// The indices of all functions.
    static var functions: Range<Int32> { 0..<flt_function_count() }

    static func name(of function: Int32) -> String { String(cString: flt_function_name(function)) }
}

extension Injection {
    /// Finds an injection by the words of a command line. A fault that lasts is written with a plus sign.
    init?(function name: String, call: String, fault: String) {
        guard let function = Self.functions.first(where: { Self.name(of: $0) == name }),
            let call = Int64(call)
        else { return nil }
        let known = FaultTable.faults(of: name) + FaultTable.lastingFaults(of: name) + FaultTable.ends
        guard let fault = known.first(where: { $0.name == fault }) else { return nil }
        self.init(function: function, fault: fault, call: call)
    }
}
