// The first file of TLSFixtures replaces this one.
