# Compiles the modules for another system than this one, with this toolchain: for scripts/apple and scripts/arm64, which set
#   target, folder, common      the system, the folder of its results, and the compiler's options
#   module_file                 how the compiler names a module's file for the target
#   interface_changes           options of sed for the standard library's interface
#   own_files                   files that everything depends on
# and build_swift_library, which calls build_interface for each module of Swift's.

# In the order of their dependencies.
libraries="DirectCore DirectIO DirectLookup DirectTLS DirectHTTP1 DirectCoding DirectJSON DirectTransport DirectHTTP DirectHTTPRecords DirectHTTPExtras DirectHTTPHosts"
libraries+=" DirectResolvers DirectHello DirectProxy"
program="TLSFixtures CommandKit SNIProbe sni-probe"
modules="$libraries $program tls-fixtures direct-proxy"
left_out="CDirectLinux CDirectSecurity CDirectOpenSSL CSystemOpenSSL CDirectZlib CDirectBrotli CDirectZstd DirectHTTPFoundation DirectHTTPJSON"

# The text of x86-64's interface has Float80, with two functions of C that ARM64 lacks. Code that used it would not get
# through the compiler for ARM64.
without_float80=(-e 's/self = _stdlib_\(remainder\|squareRoot\)l(.*)/fatalError()/')

check_modules() {
    local module
    for module in $(ls Sources Commands | grep -v :); do
        case " $modules $left_out " in
            *" $module "*) ;;
            *) give_up "$module is not in the list of modules" ;;
        esac
    done
}

describe_host() {
    local facts
    facts=$(swiftc -print-target-info)
    host=$(sed -n 's/^ *"triple": "\(.*\)",/\1/p' <<<"$facts" | sed -n 1p)
    resources=$(sed -n 's/^ *"runtimeResourcePath": "\(.*\)".*/\1/p' <<<"$facts")
}

interface() { echo "$resources/linux/$1.swiftmodule/$host.swiftinterface"; }

# Compiles what has changed since the last time, and what comes after it, into a folder of the target's.
compile() {
    local openssl=$1 module
    objects=$folder/$2
    mkdir -p "$objects"
    stamp=$({
        swiftc --version 2>/dev/null
        declare -f build_swift_library build_interface build_module build_foundation
        cat "${own_files[@]}"
        echo "${common[*]}"
    } | cksum)
    unless_done "$folder/library" build_swift_library
    stamp+=$(cat "$openssl"/include/*/*.h Package.swift Sources/CDirect*/*.h | cksum)
    for module in $modules; do
        stamp=$(echo "$stamp $(sources "$module" | xargs cat | cksum)" | cksum)
        unless_done "$objects/$module" build_module "$module" "$openssl"
    done
}

unless_done() {
    local mark=$1.stamp
    shift
    if [ "$(cat "$mark" 2>/dev/null)" = "$stamp" ]; then return 0; fi
    rm -f "$mark"
    "$@"
    echo "$stamp" >"$mark"
}

build_interface() {
    local module=$1
    shift
    sed -e "s/-target $host/-target $target/" "${interface_changes[@]}" "$(interface "$module")" >"$folder/$module.swiftinterface"
    run "$module" swiftc -frontend -compile-module-from-interface "$folder/$module.swiftinterface" \
        -module-name "$module" "${common[@]}" "$@" -o "$(compiled "$module")"
}

compiled() {
    mkdir -p "$folder/library/$1.swiftmodule"
    echo "$folder/library/$1.swiftmodule/$module_file.swiftmodule"
}

sources() {
    find "Sources/$1" "Commands/$1" -name '*.docc' -prune -o -name '*.swift' -print 2>/dev/null | sort
}

# The settings are those of Package.swift.
build_module() {
    local module=$1 openssl=$2 settings
    settings=$(sed -n 's/.*\.enableUpcomingFeature("\(.*\)").*/-enable-upcoming-feature \1/p' Package.swift)
    case $module in
        DirectIO | DirectTLS | DirectCoding | DirectHTTPFoundation) ;;
        Direct*) settings+=" -strict-memory-safety" ;;
    esac
    # shellcheck disable=SC2046,SC2086
    run "$module" swiftc -frontend -c -parse-as-library -whole-module-optimization -warnings-as-errors \
        -swift-version 6 $settings -package-name direct_http -module-name "${module//-/_}" "${common[@]}" \
        -I "$objects" -I "$openssl/include" -Xcc -ISources/CDirectOpenSSL -Xcc -ISources/CDirectLinux \
        -Xcc -ISources/CDirectSecurity -Xcc -ISources/CDirectZlib $(sources "$module") \
        -emit-module -emit-module-path "$objects/${module//-/_}.swiftmodule" -o "$objects/$module.o"
}

# Runs a command and prints its output only if it fails.
run() {
    local log=$folder/logs/$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        head -n 60 "$log" >&2
        give_up "this fails for $target"
    fi
}

# OpenSSL's static libraries for one of Apple's systems, for scripts/apple and scripts/package.d/openssl-xcframework, which set
# `work`, `sdk`, and, where OpenSSL is to be built from a folder of one's own, `openssl_source`.

# Apple's published headers and the list of symbols of libSystem, as Zig ships them.
apple_headers="ziglang==0.17.1 --hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54"
targets="ios-arm64 ios-simulator-arm64 ios-simulator-x86_64 macos-arm64 macos-x86_64"

# The versions are the oldest in Package.swift.
name_target() {
    architecture=${1##*-} system=${1%-*}
    case $system in
        macos) version=$(version_of macOS) target=$architecture-apple-macosx$version ;;
        ios) version=$(version_of iOS) target=$architecture-apple-ios$version ;;
        ios-simulator) version=$(version_of iOS) target=$architecture-apple-ios$version-simulator ;;
    esac
    folder=$work/$1
    mkdir -p "$folder/logs"
}

version_of() { sed -n "s/.*\\.$1(\\.v\\([0-9]*\\)).*/\\1.0/p" Package.swift; }

# Static libraries, as a program for iOS has to bring its OpenSSL along. On a Mac with the compiler that xcrun finds, elsewhere
# with this toolchain's and the headers in `sdk`.
build_openssl() {
    local source=${openssl_source:-} stamp configuration tools=(LC_ALL=C) options=("--target=$target")
    openssl=$folder/openssl
    [ -n "$source" ] || source=$(signed_source)
    [ -e "$source/VERSION.dat" ] || give_up "$source is not the unpacked source of OpenSSL 3.0 or newer"
    stamp="$source $(cat "$source/VERSION.dat" - <<<"$apple_headers" | cksum)"
    if [ "$(cat "$openssl/stamp" 2>/dev/null)" = "$stamp" ]; then return 0; fi
    case $system-$architecture in
        macos-arm64) configuration=darwin64-arm64 ;;
        macos-x86_64) configuration=darwin64-x86_64 ;;
        ios-arm64) configuration=ios64-xcrun ;;
        ios-simulator-*) configuration=iossimulator-xcrun ;;
    esac
    if [ "$(uname)" != Darwin ]; then
        tools+=(CC=clang AR=llvm-ar RANLIB=llvm-ranlib)
        options+=(-isysroot "$sdk")
    fi
    rm -rf "$openssl"
    mkdir -p "$openssl/build" "$openssl/lib" "$openssl/include/openssl"
    say "building $(basename "$source") for $target (some minutes)"
    run openssl in_build env "${tools[@]}" perl "$source/Configure" "$configuration" no-shared no-tests no-engine no-dso no-ssl3 \
        no-zlib "${options[@]}" -Wno-overriding-option -Wno-unused-command-line-argument
    run openssl in_build make -s -j"$(getconf _NPROCESSORS_ONLN)" build_libs
    cp "$openssl"/build/lib{ssl,crypto}.a "$openssl/lib/"
    cp "$source"/include/openssl/*.h "$openssl"/build/include/openssl/*.h "$openssl/include/openssl/"
    rm -r "$openssl/build"
    basename "$source" >"$openssl/version"
    echo "$stamp" >"$openssl/stamp"
}

in_build() { (cd "$openssl/build" && "$@"); }

# Prints the folder of the source package of this machine's release, whose signature apt checks.
signed_source() {
    local release
    [ -e /etc/debian_version ] || give_up "name the folder of OpenSSL's unpacked source: there is no apt here"
    if [ ! -e "$work/source/done" ]; then
        release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
        rm -rf "$work/source"
        mkdir -p "$work/source"
        own_apt "$work/apt" "$release"
        (cd "$work/source" && "${apt[@]}" source openssl >"$work/source.log" 2>&1 </dev/null) ||
            { tail -n 5 "$work/source.log" >&2 && give_up "cannot get the source of openssl in $release"; }
        touch "$work/source/done"
    fi
    echo "$work"/source/openssl-*/
}
