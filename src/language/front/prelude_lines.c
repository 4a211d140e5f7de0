/* prelude_lines.c: {:#?}: what {:?} shows, a line for each part. Texts and letters are skipped as a whole. Only
 * programs that ask for it read it.
 */
#include "language/front/prelude.h"

#define TEXT(...) #__VA_ARGS__ "\n"

/* clang-format off */
const char prelude_lines_text[] = TEXT(
impl String {
    fn __lines(self) -> String {
        let all = self.chars();
        let n = all.len();
        let mut out = "";
        let mut margin = "\n";
        let mut i = 0;
        while i < n {
            let c = all[i];
            let next = if i + 1 < n { all[i + 1] } else { ' ' };
            if c == '"' || c == '\'' {
                let mut k = i + 1;
                while k < n && all[k] != c { k += if all[k] == '\\' { 2 } else { 1 }; }
                out = out + self.substring(i, k + 1);
                i = k + 1;
            } else if c == '(' || c == '[' || c == '{' {
                let mut k = i + 1;
                while k < n && all[k] == ' ' { k += 1; }
                let ends = k >= n || all[k] == ')' || all[k] == ']' || all[k] == '}';
                if !ends { margin = margin + "    "; }
                out = out + c.to_string() + if ends { "" } else { margin };
                i = k;
                if ends && k < n { out = out + all[k].to_string(); i = k + 1; }
            } else if c == ')' || c == ']' || c == '}' {
                margin = margin.substring(0, margin.len() - 4);
                out = out + "," + margin + c.to_string();
                i += 1;
            } else if c == ',' && next == ' ' {
                out = out + "," + margin;
                i += 2;
            } else {
                let closes = (c == ' ' && next == '}') || (c == ',' && next == ')');
                if !closes { out = out + c.to_string(); }
                i += 1;
            }
        }
        out
    }
}
);
/* clang-format on */
const size_t prelude_lines_length = sizeof prelude_lines_text - 1;
