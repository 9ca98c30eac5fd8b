# svc completion for fish: no process is started by a Tab. Made by: svc completion fish

# Prints the file that the program keeps what it has shown lately in: profile, mode, address.
function __svc_recent_file
    set -l profile $argv[1]
    set -l mode $argv[2]
    set -l base $argv[3]
    set -l folder ~/.cache/svc
    if test -n "$SVC_CACHE_DIR"
        set folder $SVC_CACHE_DIR
    else if string match -q -- '/*' "$XDG_CACHE_HOME"
        set folder $XDG_CACHE_HOME/svc
    else if test -d ~/Library/Caches
        set folder ~/Library/Caches/svc
    end
    test -n "$profile"; or set profile $SVC_PROFILE
    if test -z "$profile"
        set profile default
        for line in (__svc_config)
            string match -q -- '[*' $line; and break
            set -l found (string match -r -- '^active_profile\s*=\s*["\']([^"\']*)' $line)
            and set profile $found[2]
        end
    end
    test -n "$mode"; or set mode $SVC_MODE
    test -n "$mode"; or set mode test
    test -n "$base"; or set base $SVC_BASE_URL
    test -n "$base"; and set base @(string replace -ra -- '[^A-Za-z0-9.-]' _ $base)
    echo "$folder/recent/$profile.$mode$base.tsv"
end

# Prints the lines of the config file.
function __svc_config
    set -l folder ~/.config/svc
    if test -n "$SVC_CONFIG_DIR"
        set folder $SVC_CONFIG_DIR
    else if string match -q -- '/*' "$XDG_CONFIG_HOME"
        set folder $XDG_CONFIG_HOME/svc
    else if test -d ~/Library/"Application Support"
        set folder ~/Library/"Application Support"/svc
    end
    test -r $folder/config.toml; and __svc_lines $folder/config.toml
end

function __svc_lines
    read -z -l all <$argv[1]
    string split -n \n -- $all
end

# Prints ids of some kinds with their labels, the latest first.
function __svc_ids
    set -l file (__svc_recent_file $argv[2..4])
    test -r "$file"; or return
    set -l pattern (string replace -a -- '|' '|^' "^$argv[1]")
    for line in (__svc_lines $file)
        set -l parts (string split \t -- $line)
        string match -qr -- "($pattern)" $parts[1]; or continue
        string match -qr -- '^[A-Za-z0-9_]+$' $parts[1]; and printf '%s\t%s\n' $parts[1] "$parts[3]"
    end
end

function __svc_profiles
    for line in (__svc_config)
        set -l found (string match -r -- '^\[profiles\.([A-Za-z0-9_-]+)\]' $line)
        and echo $found[2]
    end
end

# Prints what fits a kind: w.NAME words, i.ord_|pay_ ids, p a profile; says that a path fits (f).
function __svc_values --no-scope-shadowing
    set -l before $argv[2]
    for each in (string split , -- (string replace -r -- '^[+%]' '' $argv[1]))
        switch $each
            case 'w.*'
                __svc_words (string sub -s 3 -- $each) | string replace -r -- '^' "$before"
            case 'i.*'
                __svc_ids (string sub -s 3 -- $each) "$chosen_profile" "$chosen_mode" "$chosen_base" | string replace -r -- '^' "$before"
            case p
                __svc_profiles | string replace -r -- '^' "$before"
            case f
                set files yes
        end
    end
end

# Prints options of a list of `--name kind help`, without those that were given and short names.
function __svc_options
    set -l given (string split ' ' -- $argv[1])
    set -e argv[1]
    while set -q argv[1]
        if string match -q -- '--*' $argv[1]
            if string match -q -- '+*' $argv[2]; or not contains -- $argv[1] $given
                printf '%s\t%s\n' $argv[1] $argv[3]
            end
        end
        set -e argv[1..3]
    end
end

# Sets `kind` of an option; empty where the command does not take it.
function __svc_kind --no-scope-shadowing
    set kind ''
    set -l index (contains -i -- $argv[1] $options $shared)
    and begin
        set -l both $options $shared
        set kind $both[(math $index + 1)]
    end
end

function __svc_note --no-scope-shadowing
    switch $argv[1]
        case --profile
            set chosen_profile $argv[2]
        case --base-url
            set chosen_base $argv[2]
        case --live
            set chosen_mode live
        case --test
            set chosen_mode test
    end
end

function __svc_complete
    set -l current (commandline -ct)
    set -l line (commandline -opc)
    set -l path
    set -l at 0
    set -l kind ''
    set -l expected ''
    set -l option ''
    set -l literal ''
    set -l given
    set -l chosen_profile ''
    set -l chosen_mode ''
    set -l chosen_base ''
    set -l commands
    set -l options
    set -l arguments
    set -l shared
    set -l files
    __svc_command ''
    for word in $line[2..-1]
        string match -q -- '%*' "$expected"; and string match -q -- '-*' $word
        and set expected ''
        if test -n "$expected"
            __svc_note $option $word
            set expected ''
            continue
        end
        # No `?` in a pattern: fish 4 takes it for itself.
        if test "$literal$word" = --
            set literal .
        else if string match -q -- '--*=*' $literal$word
            set -l parts (string split -m 1 = -- $word)
            set -a given $parts[1]
            __svc_note $parts
        else if string match -qr -- '^-.' $literal$word
            set -a given $word
            set option $word
            __svc_kind $word
            if contains -- "$kind" '' -
                __svc_note $word
            else
                set expected $kind
            end
        else if test -z "$literal" -a $at = 0; and contains -- $word $commands
            set -a path (test -z "$path"; and __svc_long_name $word; or echo $word)
            __svc_command "$path"
        else
            set at (math $at + 1)
        end
    end
    string match -q -- '%*' "$expected"; and set expected ''
    if test -n "$expected"
        __svc_values $expected ''
    else if test -z "$literal"; and string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        __svc_kind $parts[1]
        __svc_values "$kind" "$parts[1]="
    else if test -z "$literal"; and string match -q -- '-*' $current
        __svc_options "$given" $options $shared
    else
        if test $at = 0 -a -z "$literal" -a -n "$commands"
            printf '%s\t%s\n' $commands
        end
        set kind ''
        if test $at -lt (count $arguments)
            set kind $arguments[(math $at + 1)]
        else if string match -q -- '+*' "$arguments[-1]"
            set kind $arguments[-1]
        end
        if test -n "$kind"
            __svc_values $kind ''
        else if test -z "$literal$current$commands"
            __svc_options "$given" $options
        end
    end
    set -q files[1]
end

# Asked apart: fish itself completes paths, with ~ and whatever must be escaped.
function __svc_wants_files
    __svc_complete >/dev/null
end

function __svc_long_name
    switch $argv[1]
@long_names         case <short>
@long_names             echo <name>
        case '*'
            echo $argv[1]
    end
end

function __svc_words
    switch $argv[1]
@words         case <name>
@words             printf '%s\t%s\n' <words>
    end
end

function __svc_command --no-scope-shadowing
    switch $argv[1]
@commands         case <path>
@commands             set commands <commands>
@commands             set options <options>
@commands             set arguments <arguments>
@commands             set shared <groups>
    end
    switch $shared
@combinations         case <groups>
@combinations             set shared <options>
    end
end

complete -c svc -e
complete -c svc -f -k -a '(__svc_complete)'
complete -c svc -n __svc_wants_files -F
