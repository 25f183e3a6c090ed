// The first file of DirectTLS replaces this one.
