#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

/// Objective-C code of the app, which has its own session.
@interface Feed : NSObject

/// Gets the text of a page. Swift calls it as `try await Feed.text(of: url)`.
+ (void)textOfURL:(NSURL *)url
    completionHandler:(void (^)(NSString *_Nullable text, NSError *_Nullable error))handler
    NS_SWIFT_NAME(text(of:completionHandler:));

@end

NS_ASSUME_NONNULL_END
