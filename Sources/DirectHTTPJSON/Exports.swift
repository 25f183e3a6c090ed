// Programs that import this module alone need the client too.
@_exported public import DirectHTTP
