/// The style sheet of a report.
enum HTMLStyle {
    /// The colours by name, for light and dark. Each text colour has a contrast of at least 4.5 to the
    /// background, which a test computes (WCAG 2.1, criterion 1.4.3).
    static let colors: [(name: String, light: String, dark: String)] = [
        ("back", "#ffffff", "#0d1117"),
        ("text", "#1b1f24", "#e6edf3"),
        ("soft", "#57606a", "#9aa4af"),
        ("line", "#c4cbd3", "#3d444d"),
        ("ok", "#116329", "#56d364"),
        ("warn", "#7d4e00", "#e3b341"),
        ("fail", "#a40e26", "#ff8b82"),
    ]

    static var text: String {
        let light = colors.map { "--\($0.name):\($0.light);" }.joined()
        let dark = colors.map { "--\($0.name):\($0.dark);" }.joined()
        return ":root{color-scheme:light dark;\(light)}\n"
            + "@media screen and (prefers-color-scheme:dark){:root{\(dark)}}\n" + rules
    }

    private static let rules = """
        body{margin:0 auto;max-width:60rem;padding:1.5rem;background:var(--back);color:var(--text);\
        font:1rem/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:0 0 .5rem}
        h2{font-size:1.25rem;margin:2.2rem 0 .5rem;border-bottom:1px solid var(--line)}
        h3{font-size:1rem;margin:1.2rem 0 .3rem}
        p,li{overflow-wrap:anywhere;max-width:50rem}
        .soft{color:var(--soft)}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-size:.9rem;margin:.6rem 0}
        caption{text-align:left;color:var(--soft);padding-bottom:.3rem}
        th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);\
        overflow-wrap:break-word}
        th[scope=col],td.whole{white-space:nowrap}
        th[scope=row]{font-weight:600}
        .mono{font-family:ui-monospace,monospace}
        .ok{color:var(--ok)}.warn{color:var(--warn)}.fail{color:var(--fail)}
        b.ok,b.warn,b.fail{white-space:nowrap}
        figure{margin:.8rem 0;overflow-x:auto}
        figcaption{color:var(--soft);font-size:.9rem}
        svg{display:block;width:100%;min-width:42rem;height:auto;font:12px ui-monospace,monospace}
        svg text{fill:var(--text)}
        svg .soft{fill:var(--soft)}
        svg text.ok,svg rect.ok,svg circle.ok{fill:var(--ok)}
        svg text.warn,svg rect.warn,svg circle.warn{fill:var(--warn)}
        svg text.fail,svg rect.fail,svg circle.fail{fill:var(--fail)}
        svg path,svg line{fill:none;stroke:var(--line);stroke-width:1.5}
        svg path.ok{stroke:var(--ok)}svg path.warn{stroke:var(--warn)}
        svg path.fail{stroke:var(--fail);stroke-dasharray:5 3}
        svg line.now{stroke:var(--text);stroke-dasharray:2 2}
        @media print{body{max-width:none;padding:0;font-size:10pt}svg{min-width:0}h2,h3{break-after:avoid}\
        figure,tr{break-inside:avoid}.wide{overflow:visible}th,td{overflow-wrap:anywhere}}

        """
}
