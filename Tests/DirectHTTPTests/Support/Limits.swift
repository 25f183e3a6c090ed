/// Far longer than anything takes that works, on any machine, and far shorter than what comes next if it does
/// not.
let deadline = Duration.seconds(15)
