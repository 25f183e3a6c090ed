// What Objective-C shows to Swift: the build setting SWIFT_OBJC_BRIDGING_HEADER names this file.
#import "Feed.h"
