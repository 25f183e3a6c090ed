// Foundation as far as Examples/iOS/Shop/Feed.m uses it: `scripts/apple app` lets clang read the file with it.
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_SWIFT_NAME(name) __attribute__((swift_name(#name)))
#define nil ((void *)0)

typedef long dispatch_once_t;
void dispatch_once(dispatch_once_t *once, void (^block)(void));
typedef unsigned long NSStringEncoding;
enum { NSUTF8StringEncoding = 4 };

@class NSArray, NSData, NSError, NSURL, NSURLResponse, NSURLSession;
@interface NSObject
+ (instancetype)alloc;
+ (Class)class;
@end
@interface NSArray : NSObject
+ (instancetype)arrayWithObjects:(const id *)objects count:(unsigned long)count;
@end
@interface NSString : NSObject
- (instancetype)initWithData:(NSData *)data encoding:(NSStringEncoding)encoding;
@end
@interface NSURLSessionConfiguration : NSObject
@property(class, readonly) NSURLSessionConfiguration *defaultSessionConfiguration;
@property NSArray *protocolClasses;
@end
@interface NSURLSessionDataTask : NSObject
- (void)resume;
@end
@interface NSURLSession : NSObject
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration;
- (NSURLSessionDataTask *)dataTaskWithURL:(NSURL *)url
                        completionHandler:(void (^)(NSData *data, NSURLResponse *response, NSError *error))handler;
@end
