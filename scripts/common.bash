# Functions and settings that the scripts of this folder share. They run from the repository's root.

set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

script_name=$(basename "$0")

# Prints the comment at the top of the script.
usage() { sed -n '3,/^$/s/^# \{0,1\}//p' "$script"; }
say() { printf '%s: %s\n' "$script_name" "$*"; }
give_up() {
    printf '%s: %s\n' "$script_name" "$*" >&2
    exit 1
}

# Puts `swift` on the PATH, or fails with the place to download it.
find_swift() {
    if ! command -v swift >/dev/null; then
        local folder
        for folder in /opt/swift/usr/bin /usr/local/swift/usr/bin "$HOME/.local/share/swiftly/bin"; do
            if [ -x "$folder/swift" ]; then PATH="$folder:$PATH"; fi
        done
    fi
    command -v swift >/dev/null || give_up "swift is not installed; get 6.2.3 or newer from https://www.swift.org/install"
    export PATH
}

has_openssl_headers() {
    [ -e /usr/include/openssl/ssl.h ] || { command -v pkg-config >/dev/null && pkg-config --exists openssl; }
}

# `install_missing needed …` or `install_missing wanted …`, with names of commands, or `openssl-headers`.
#
# Installs missing commands and headers with apt. If a needed one cannot be installed, the script fails; if a wanted one
# cannot be, the tests that use it are skipped, with a message.
install_missing() {
    local need=$1 name missing=() packages=()
    shift
    for name in "$@"; do
        if ! is_present "$name"; then
            missing+=("$name")
            packages+=("$(package_of "$name")")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    say "missing: ${missing[*]}; installing ${packages[*]} with apt-get"
    if ! apt_install "${packages[@]}"; then
        say "please install: ${packages[*]}"
    fi
    case " ${missing[*]} " in
        *" nginx "*) say "the nginx service that the package starts is not used; 'systemctl disable --now nginx' stops it" ;;
    esac
    for name in "${missing[@]}"; do
        is_present "$name" && continue
        [ "$need" = wanted ] || give_up "cannot continue without $name"
        say "continuing without $name: tests that need it are skipped"
    done
}

is_present() {
    case $1 in
        openssl-headers) has_openssl_headers ;;
        zlib-headers) [ -e /usr/include/zlib.h ] || { command -v pkg-config >/dev/null && pkg-config --exists zlib; } ;;
        brotli-headers) [ -e /usr/include/brotli/decode.h ] ;;
        zstd-headers) [ -e /usr/include/zstd.h ] ;;
        python3-venv) python3 -c "import ensurepip, venv" 2>/dev/null ;;
        libcurl-headers) [ -n "$(find /usr/include -maxdepth 3 -path '*/curl/curl.h' 2>/dev/null)" ] ;;
        # Another one than the toolchain's, which does not link for Apple.
        ld64.lld) ls /usr/bin/ld64.lld* >/dev/null 2>&1 ;;
        # With the other tools for Apple's libraries. Debian has the plain name only with one of its versions of LLVM.
        llvm-lipo) ls /usr/bin/llvm-lipo* /usr/bin/llvm-libtool-darwin* >/dev/null 2>&1 ;;
        pip) python3 -m pip --version >/dev/null 2>&1 ;;
        # Not on every user's PATH.
        nginx | haproxy) command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

package_of() {
    case $1 in
        openssl-headers) echo libssl-dev ;;
        zlib-headers) echo zlib1g-dev ;;
        brotli-headers) echo libbrotli-dev ;;
        zstd-headers) echo libzstd-dev ;;
        libcurl-headers) echo libcurl4-openssl-dev ;;
        nginx) echo nginx-light ;;
        go) echo golang-go ;;
        gnuplot) echo gnuplot-nox ;;
        readelf | strip) echo binutils ;;
        ip | ss) echo iproute2 ;;
        pip) echo python3-pip ;;
        qemu-aarch64) echo qemu-user ;;
        ld64.lld) echo lld ;;
        llvm-lipo) echo llvm ;;
        setcap) echo libcap2-bin ;;
        dpkg-shlibdeps | dpkg-source) echo dpkg-dev ;;
        gnutls-serv) echo gnutls-bin ;;
        node) echo nodejs ;;
        *) echo "$1" ;;
    esac
}

apt_install() {
    local as_root=()
    if ! command -v apt-get >/dev/null; then
        say "there is no apt-get here"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "installing needs root, and there is no sudo"
            return 1
        fi
        as_root=(sudo)
        # Without a terminal no password can be entered.
        if [ -n "${CI:-}" ] || [ ! -t 0 ]; then as_root=(sudo -n); fi
    fi
    # Another installation, for instance the daily one of the system, is waited for.
    local apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
    local log status=0
    log=$(mktemp)
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null ||
        status=$?
    if [ $status -ne 0 ]; then tail -n 20 "$log" >&2; fi
    rm -f "$log"
    return $status
}

# Prints the address of Debian's archive that this machine's apt has.
archive_address() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^ *#' |
        grep -Eo 'https?://[^ ]+/(debian|ubuntu)/?( |$)' | sed -n 1p || true
}

# `new_debian_root FOLDER RELEASE [OPTION...]` makes a root with nothing but the base of a release of Debian, and what options
# of debootstrap add, from the address that this machine's apt has. It needs root rights.
new_debian_root() {
    local folder=$1 release=$2 address log
    shift 2
    install_missing needed debootstrap
    say "making a new Debian root ($release, a minute or two)"
    address=$(archive_address)
    log=$(mktemp)
    PATH=$PATH:/usr/sbin:/sbin debootstrap --variant=minbase "$@" "$release" "$folder" ${address:+"$address"} >"$log" 2>&1 ||
        give_up "$(tail -n 5 "$log"; rm -f "$log")"
    rm -f "$log"
}

# `own_apt FOLDER RELEASE [ARCHITECTURE]` sets `apt` to an apt-get for the source packages of a release of this system's
# distribution, or for its packages for an architecture, from the address that this machine's apt has. It checks signatures
# as ever; the system's packages and lists stay as they are.
own_apt() {
    local folder=$1 release=$2 architecture=${3:-} address kind=deb-src
    [ -z "$architecture" ] || kind="deb [arch=$architecture]"
    address=$(archive_address)
    [ -n "$address" ] || give_up "this machine's apt has no address of Debian's archive"
    mkdir -p "$folder/lists/partial" "$folder/archives/partial"
    : >"$folder/status"
    echo "$kind $address $release main" >"$folder/sources.list"
    apt=(apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=root
        -o "Dir::State::Lists=$folder/lists" -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder")
    [ -z "$architecture" ] || apt+=(-o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture")
    "${apt[@]}" update </dev/null || give_up "cannot get the list of packages of $release"
}

# Prints, as arguments for `swift build`, the traits whose libraries are installed.
possible_traits() {
    local traits=()
    if is_present brotli-headers; then traits+=(Brotli); fi
    if is_present zstd-headers; then traits+=(Zstd); fi
    if [ ${#traits[@]} -gt 0 ]; then (IFS=, && echo "--traits ${traits[*]}"); fi
}

# Runs a command for at most this many minutes, if the system has `timeout`.
within_minutes() {
    local minutes=$1
    shift
    if command -v timeout >/dev/null; then timeout -k 10 "${minutes}m" "$@"; else "$@"; fi
}

# Prints each test that has failed, in a log of `swift test`, once, with its first issue and the number of the others.
# At the end come errors that belong to no test.
failures_in() {
    awk '
        # A test may have issues that are known to it.
        /recorded a known issue/ { next }
        /✘ Test .* recorded an issue/ {
            sub(/.*✘ Test /, "")
            name = $0
            sub(/ recorded an issue.*/, "", name)
            if (!(name in first)) { first[name] = $0; names[++count] = name } else { others[name]++ }
            next
        }
        /✘ Test .* failed after/ {
            sub(/.*✘ Test /, "")
            name = $0
            sub(/ (with [0-9]+ test cases? )?failed after.*/, "", name)
            if (!(name in first) && name !~ /^run /) { first[name] = $0; names[++count] = name }
            next
        }
        # The name of a test may have the same words.
        /(◇|✔|✘|━|➜|➔) (Test|Suite) / { next }
        /Fatal error|^(Thread|Program) crashed|error: / { if (!seen[$0]++ && errors++ < 40) other = other "  " $0 "\n" }
        END {
            for (place = 1; place <= count; place++) {
                name = names[place]
                print "  " first[name] (others[name] ? " (and " others[name] " more)" : "")
            }
            printf "%s", other
        }' "$1"
}

# Prints how many tests ran, in a log of `swift test`, and those that were skipped, with their reasons.
summarize_tests() {
    sed -n 's/^[^ ]* Test run with/Test run with/p' "$1"
    say "skipped: $(grep -ac '^➜ Test ' "$1" || true)"
    sed -n 's/^➜ Test \(.*\) skipped/  \1/p' "$1" | sort
}

# `step NAME COMMAND…` runs one step of many and prints how long it took; at the end of the script, however it comes, there is
# a table of all steps with their seconds and what they used of the processors.
step() {
    local name=$1 begin=$SECONDS used
    shift
    if [ ${#steps[@]} -eq 0 ]; then trap print_steps EXIT; fi
    read_cpu_seconds
    used=$cpu_seconds
    steps+=("$name")
    printf '\n== %s\n' "$name"
    "$@"
    read_cpu_seconds
    steps[-1]=$(printf '%6d %6d  %s' $((SECONDS - begin)) $((cpu_seconds - used)) "$name")
    say "$name took $((SECONDS - begin)) s"
}
steps=()
# `search NAME COMMAND…` is a step whose failure does not keep the others from running: `found` has the names of those that failed.
search() { step "$1" note_failure "$@"; }
note_failure() {
    local name=$1
    shift
    "$@" || found+=("$name")
}
found=()
print_steps() {
    printf '\n     s  CPU s  step\n'
    printf '%s\n' "${steps[@]}" | sed '/^ /!s/^/not ended      /'
    read_cpu_seconds
    printf '%6d %6d  in all\n' $SECONDS $cpu_seconds
}
# What the children of this shell that have ended have used. In a pipeline `times` would speak of another shell.
read_cpu_seconds() {
    local file
    file=$(mktemp)
    times >"$file"
    cpu_seconds=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$file")
    rm -f "$file"
}

time_since() {
    local seconds=$((SECONDS - $1))
    if [ $seconds -lt 60 ]; then echo "$seconds s"; else echo "$((seconds / 60)) min $((seconds % 60)) s"; fi
}

# The scripts build in a separate folder: their flags differ from those of an ordinary `swift build`, and each would
# recompile the other's files. `check` and `test` have the same flags, so they share all object files. Only editors read the
# index, which takes 8 % of the time to compile, and only debuggers the debug information, which takes a tenth: a plain
# `swift test` has it.
checked_build=(
    --scratch-path .build/checked
    --disable-index-store
    -debug-info-format none
    --explicit-target-dependency-import-check error
    -Xswiftc -warnings-as-errors
)

# Builds a package in a folder of this one, as its user would. SwiftPM does not notice files added to or removed from a
# package it depends on by path; without its old plan it makes a new one.
build_package() {
    rm -f "$1/.build/debug.yaml" "$1/.build/release.yaml"
    swift build --package-path "$@"
}
# What `check` and `test` build: all tests with what they need, and the examples. Package.swift reads it. The programs of
# Verification and the benchmark of dialling are left to the scripts that run them.
build_only_what_is_tested() {
    [ -z "${DIRECT_HTTP_PARTS:-}" ] || return 0
    DIRECT_HTTP_PARTS=$({ sed -n 's/.*name: "\([A-Za-z0-9]*Tests\)".*/\1/p' Package.swift && ls Examples/Sources; } | paste -sd, -)
    export DIRECT_HTTP_PARTS
}

# `built release|checked PRODUCT` builds a program with the traits whose libraries are installed, so that all scripts share one
# build of each kind, and prints its path. What the compiler says is shown only if that fails.
built() {
    local options=("${checked_build[@]}") place=.build/checked/debug log
    find_swift
    install_missing needed openssl-headers zlib-headers pkg-config >&2
    # shellcheck disable=SC2046
    [ "$1" = checked ] || options=(--configuration release $(possible_traits)) place=.build/release
    log=$(mktemp)
    [ -e "$place/$2" ] || say "building $2 (some minutes the first time)" >&2
    if ! swift build "${options[@]}" --product "$2" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        give_up "the build of $2 failed"
    fi
    rm -f "$log"
    echo "$(swift build "${options[@]}" --show-bin-path)/$2"
}

# Prints the options that link the library of C++ in, in which Swift's runtime is written: it cannot be missing then, and a tenth
# less is done before `main`.
static_cxx() {
    local archive folder=$PWD/.build/static-cxx
    archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || true)
    [ -f "$archive" ] || archive=$(gcc -print-file-name=libstdc++.a 2>/dev/null || true)
    # A compiler that does not find the library prints the name unchanged.
    [ -f "$archive" ] || return 0
    # The linker searches folder by folder and prefers a shared library: in this folder there is none.
    mkdir -p "$folder"
    ln -sf "$archive" "$folder/libstdc++.a"
    echo "-Xlinker -L$folder -Xswiftc -Xclang-linker -Xswiftc -static-libgcc"
}

# Builds the library products, and leaves what the compiler says of their public symbols in .build/reference/PRODUCT.symbols: for
# scripts/api and scripts/docs.
library_symbols() {
    local product flag openssl_flags modules target options
    install_missing needed openssl-headers zlib-headers pkg-config python3 >&2
    # In the order of Package.swift. What DirectHTTP exports appears as its own.
    read -ra products <<<"$(sed -n 's/^ *\.library(name: "\(.*\)", targets:.*/\1/p' Package.swift | paste -sd ' ' -)"
    work=$PWD/.build/reference
    rm -rf "$work"/*.symbols
    mkdir -p "$work"
    [ -n "${is_built:-}" ] || for product in "${products[@]}"; do
        # The build of scripts/test, where there is one already.
        if ! swift build "${checked_build[@]}" --target "$product" >"$work/build.log" 2>&1 </dev/null; then
            cat "$work/build.log" >&2
            give_up "the build failed"
        fi
    done
    modules=$(swift build "${checked_build[@]}" --show-bin-path)/Modules
    imports=(-I "$modules" -I Sources/CDirectOpenSSL -I Sources/CDirectZlib -I Sources/CDirectLinux -I Sources/CDirectSecurity)
    read -ra openssl_flags <<<"$(pkg-config --cflags-only-I openssl 2>/dev/null || true)"
    for flag in ${openssl_flags[@]+"${openssl_flags[@]}"}; do imports+=(-Xcc "$flag"); done
    target=$(swiftc -print-target-info | sed -n 's/.*"triple": "\([^"]*\)".*/\1/p' | head -n 1)
    for product in "${products[@]}"; do
        mkdir "$work/$product.symbols"
        options=()
        [ "$product" != DirectHTTP ] ||
            options=("-experimental-allowed-reexported-modules=$(sed -n 's/^@_exported public import //p' Sources/DirectHTTP/Exports.swift | paste -sd,)")
        swift-symbolgraph-extract -module-name "$product" "${imports[@]}" -target "$target" -minimum-access-level public \
            -skip-synthesized-members -skip-inherited-docs -output-dir "$work/$product.symbols" ${options[@]+"${options[@]}"}
    done
}

# The version of the package, which the sources have at one place.
version_file=Sources/DirectCore/Text/PackageVersion.swift
package_version() { sed -n 's/.*static let text = "\(.*\)"/\1/p' "$version_file"; }
