# Completions for one shell from the table of all commands: awk -v shell=bash|zsh|fish -f completions.awk TABLE
#
#     COMMAND   SUMMARY   TEXT
#     COMMAND   OPTION    SEPARATOR   VALUE   TEXT      as options.awk writes them
#     COMMAND   FILE                                    or COMMAND: the kinds of its arguments
BEGIN { FS = "\t" }
$2 == "SUMMARY" { commands[++count] = $1; summary[$1] = $3; next }
$2 == "FILE" || $2 == "COMMAND" { argument[$1] = argument[$1] " " $2; next }
{
    key = $1 SUBSEP $2
    if (!(key in separators)) {
        option[$1, ++options[$1]] = $2
        separators[key] = " "
    }
    separators[key] = separators[key] ($3 == "" ? "-" : $3)
    if (text[key] == "")
        text[key] = $5
    if ($4 ~ /^[a-z]/)
        choices[key] = choices[key] (choices[key] == "" ? "" : "|") $4
    else if ($4 != "" && placeholder[key] == "")
        placeholder[key] = $4
}

# A text in few words, for a list: up to where its first thought ends, without what shells take for their own.
function brief(text) {
    if (match(text, /[;:,.]( |$)/))
        text = substr(text, 1, RSTART - 1)
    if (text ~ /\(/ && text !~ /\)/)
        sub(/ *\([^(]*$/, "", text)
    gsub(/[`"\\\[\]$]/, "", text)
    gsub(/'/, shell == "fish" ? "\\'" : "'\\''", text)
    return text
}
function is_file(key) { return choices[key] == "" && placeholder[key] ~ /^(FILE|OUT|OTHER|EXE|FOLDER|TRACE)/ }
function words(list) { gsub(/\|/, " ", list); return list }

# `--report` and `--report=` where both are meant
function spellings(key, name,    all) {
    all = ""
    if (substr(separators[key], 2) ~ /[- ]/)
        all = name
    if (substr(separators[key], 2) ~ /=/)
        all = all (all == "" ? "" : " ") name "="
    return all
}

function bash_all(    c, i, key, command, list, files, values) {
    print "# bash completion for masu; made by scripts/reference, do not edit"
    print "_masu() {"
    print "    local current=${COMP_WORDS[COMP_CWORD]} before= options= values= kinds= optional="
    print "    [ \"$COMP_CWORD\" -lt 1 ] || before=${COMP_WORDS[COMP_CWORD-1]}"
    print "    COMPREPLY=()"
    print "    # bash parts --option=value into three words"
    print "    if [ \"$current\" = = ]; then"
    print "        current="
    print "    elif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -ge 2 ]; then"
    print "        before=${COMP_WORDS[COMP_CWORD-2]}"
    print "    fi"
    print "    if [ \"$COMP_CWORD\" -eq 1 ]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" all_commands() " --help --version' -- \"$current\")"
    print "        return 0"
    print "    fi"
    print "    case ${COMP_WORDS[1]} in"
    for (c = 1; c <= count; c++) {
        command = commands[c]
        list = ""
        for (i = 1; i <= options[command]; i++)
            list = list " " spellings(command SUBSEP option[command, i], option[command, i])
        print "    " command ")"
        print "        options='" substr(list, 2) "'"
        print "        kinds='" substr(argument[command], 2) "'"
        print "        case $before in"
        for (i = 1; i <= options[command]; i++) {
            key = command SUBSEP option[command, i]
            if (substr(separators[key], 2) ~ /[= ]/)
                print "        " option[command, i] ") values='" (is_file(key) ? "FILE" : choices[key] != "" ? words(choices[key]) : "-") "'" \
                      (substr(separators[key], 2) ~ /-/ ? " optional=yes" : "") " ;;"
        }
        print "        esac"
        print "        ;;"
    }
    print "    esac"
    print "    # --report alone is whole; its value comes behind = only"
    print "    if [ -n \"${optional-}\" ] && [ \"$before\" = \"${COMP_WORDS[COMP_CWORD-1]}\" ] && [ \"${COMP_WORDS[COMP_CWORD]}\" != = ]; then"
    print "        values="
    print "    fi"
    print "    case $values in"
    print "    FILE) kinds=FILE ;;"
    print "    -) return 0 ;;"
    print "    ?*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\") && return 0 ;;"
    print "    *)"
    print "        if [[ $current == -* ]]; then"
    print "            mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")"
    print "            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null"
    print "            return 0"
    print "        fi"
    print "        ;;"
    print "    esac"
    print "    case $kinds in"
    print "    *COMMAND*) mapfile -t COMPREPLY < <(compgen -W '" all_commands() "' -- \"$current\") ;;"
    print "    *FILE*)"
    print "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    print "        compopt -o filenames 2>/dev/null"
    print "        ;;"
    print "    esac"
    print "    return 0"
    print "}"
    print "complete -F _masu masu"
}
function all_commands(    c, list) {
    for (c = 1; c <= count; c++)
        list = list " " commands[c]
    return substr(list, 2)
}

# what zsh's _arguments wants to know of a value: :message:action
function zsh_value(key) {
    return ":" (placeholder[key] == "" ? "value" : brief(placeholder[key])) ":" \
           (is_file(key) ? "_files" : choices[key] != "" ? "(" words(choices[key]) ")" : " ")
}
function zsh_all(    c, i, key, command, name, kinds) {
    print "#compdef masu"
    print "# zsh completion for masu; made by scripts/reference, do not edit"
    print "_masu() {"
    print "    local -a commands"
    print "    commands=("
    for (c = 1; c <= count; c++)
        print "        '" commands[c] ":" brief(summary[commands[c]]) "'"
    print "    )"
    print "    if (( CURRENT == 2 )); then"
    print "        _describe -t commands command commands"
    print "        _arguments '--help[the overview]' '--version[the version]'"
    print "        return"
    print "    fi"
    print "    shift words"
    print "    (( CURRENT-- ))"
    print "    case $words[1] in"
    for (c = 1; c <= count; c++) {
        command = commands[c]
        print "    " command ")"
        printf "        _arguments"
        for (i = 1; i <= options[command]; i++) {
            name = option[command, i]
            key = command SUBSEP name
            kinds = substr(separators[key], 2)
            if (kinds ~ /-/)
                printf " \\\n            '*%s[%s]'", name, brief(text[key])
            if (kinds ~ / /)
                printf " \\\n            '*%s[%s]%s'", name, brief(text[key]), zsh_value(key)
            if (kinds ~ /=/)
                printf " \\\n            '*%s=-[%s]%s'", name, brief(text[key]), zsh_value(key)
        }
        if (argument[command] ~ /COMMAND/)
            printf " \\\n            '*:command:(%s)'", all_commands()
        else if (argument[command] ~ /FILE/)
            printf " \\\n            '*:file:_files'"
        print "\n        ;;"
    }
    print "    esac"
    print "}"
    print "_masu \"$@\""
}

function fish_all(    c, i, j, key, command, name, kinds, first, given, what, flag, parts, some) {
    print "# fish completion for masu; made by scripts/reference, do not edit"
    first = "complete -c masu -n 'test (count (commandline -opc)) -eq 1' -f"
    print first " -l help -d 'the overview'"
    print first " -l version -d 'the version'"
    for (c = 1; c <= count; c++)
        print first " -a " commands[c] " -d '" brief(summary[commands[c]]) "'"
    for (c = 1; c <= count; c++) {
        command = commands[c]
        given = "complete -c masu -n 'set -l words (commandline -opc); test \"$words[2]\" = " command "'"
        if (argument[command] ~ /COMMAND/)
            print given " -f -a '" all_commands() "'"
        else if (argument[command] !~ /FILE/)
            print given " -f"
        for (i = 1; i <= options[command]; i++) {
            name = option[command, i]
            key = command SUBSEP name
            kinds = substr(separators[key], 2)
            what = " -d '" brief(text[key]) "'"
            flag = name ~ /^--/ ? " -l " substr(name, 3) : " -s " substr(name, 2)
            if (kinds ~ /-/)
                print given flag what
            if (kinds ~ / /)
                print given flag (is_file(key) ? " -r -F" : choices[key] != "" ? " -x -a '" words(choices[key]) "'" : " -x") what
            if (kinds ~ /=/ && choices[key] == "")
                print given " -a '" name "='" what
            some = kinds ~ /=/ ? split(choices[key], parts, "|") : 0
            for (j = 1; j <= some; j++)
                print given " -a '" name "=" parts[j] "'" what
        }
    }
}
END {
    if (shell == "bash")
        bash_all()
    else if (shell == "zsh")
        zsh_all()
    else
        fish_all()
}
