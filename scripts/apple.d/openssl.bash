# OpenSSL's static libraries for one of Apple's systems, for scripts/apple and scripts/package.d/openssl-xcframework, which set
# `parts` (this folder), `work`, `sdk`, and, where OpenSSL is to be built from a folder of one's own, `openssl_source`.

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
    stamp="$source $(cat "$source/VERSION.dat" "$parts/headers.txt" | cksum)"
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
