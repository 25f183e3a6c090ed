#import "Feed.h"
// What Swift shows to Objective-C. The compiler makes it; its name is that of the product's module.
#import "Shop-Swift.h"

@implementation Feed

+ (NSURLSession *)session {
    static NSURLSession *session;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
        NSURLSessionConfiguration *configuration = NSURLSessionConfiguration.defaultSessionConfiguration;
        configuration.protocolClasses = @[ ShopProtocol.class ];
        session = [NSURLSession sessionWithConfiguration:configuration];
    });
    return session;
}

+ (void)textOfURL:(NSURL *)url completionHandler:(void (^)(NSString *, NSError *))handler {
    NSURLSessionDataTask *task = [self.session
          dataTaskWithURL:url
        completionHandler:^(NSData *data, NSURLResponse *response, NSError *error) {
            NSString *text = data ? [[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] : nil;
            handler(text, error);
        }];
    [task resume];
}

@end
