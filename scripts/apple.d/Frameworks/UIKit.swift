// Examples/iOS asks only whether it is there.
