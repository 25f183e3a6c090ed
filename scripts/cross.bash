# Compiles the modules for another system than this one, with this toolchain: for scripts/apple and scripts/arm64, which set
#   target, folder, common      the system, the folder of its results, and the compiler's options
#   module_file                 how the compiler names a module's file for the target
#   interface_changes           options of sed for the standard library's interface
#   own_files                   files that everything depends on
# and build_swift_library, which calls build_interface for each module of Swift's.

# In the order of their dependencies.
libraries="DirectCore DirectIO DirectTLS DirectHTTP1 DirectCoding DirectJSON DirectTransport DirectHTTP DirectHTTPRecords DirectHTTPExtras DirectHTTPHosts"
libraries+=" DirectResolvers"
program="TLSFixtures CommandKit SNIProbe sni-probe"
modules="$libraries $program tls-fixtures"
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
