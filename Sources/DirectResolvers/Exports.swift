// Who uses these resolvers gives them to a client.
@_exported public import DirectHTTP
