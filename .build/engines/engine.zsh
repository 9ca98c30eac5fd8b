#compdef svc
# svc completion for zsh: no process is started by a Tab. Made by: svc completion zsh

# Read by ~/.zshrc, before compinit or after it: registered at once, or before the next prompt.
_svc_register() {
  add-zsh-hook -d precmd _svc_register
  (( ! $+functions[compdef] )) || compdef _svc svc
}
if [[ $funcstack[1] != _svc ]]; then
  autoload -Uz add-zsh-hook
  if (( $+functions[compdef] )); then _svc_register; else add-zsh-hook precmd _svc_register; fi
  # What is installed is read whole at the first Tab.
  if [[ ${(%):-%x} == */_svc ]]; then
    fpath=(${${(%):-%x}:A:h} $fpath)
    autoload -Uz _svc
    return
  fi
fi

# Sets `file` to where the program keeps what it has shown lately (profile, mode, address).
_svc_recent_file() {
  local folder profile=$1 mode=$2 base=$3 line
  local -a config
  if [[ -n ${SVC_CACHE_DIR-} ]]; then folder=$SVC_CACHE_DIR
  elif [[ ${XDG_CACHE_HOME-} == /* ]]; then folder=$XDG_CACHE_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then folder=$HOME/Library/Caches/svc
  else folder=$HOME/.cache/svc; fi
  [[ -n $profile ]] || profile=${SVC_PROFILE-}
  if [[ -z $profile ]]; then
    profile=default
    _svc_read_config
    for line in $config; do
      case $line in
        '['*) break ;;
        active_profile*=*[\"\']*) line=${line#*=*[\"\']}; profile=${line%%[\"\']*}; break ;;
      esac
    done
  fi
  [[ -n $mode ]] || mode=${SVC_MODE:-test}
  [[ -n $base ]] || base=${SVC_BASE_URL-}
  file=$folder/recent/$profile.$mode${base:+@${base//[^A-Za-z0-9.-]/_}}.tsv
}

# Sets `config` to the lines of the config file.
_svc_read_config() {
  local file
  if [[ -n ${SVC_CONFIG_DIR-} ]]; then file=$SVC_CONFIG_DIR
  elif [[ ${XDG_CONFIG_HOME-} == /* ]]; then file=$XDG_CONFIG_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then file="$HOME/Library/Application Support/svc"
  else file=$HOME/.config/svc; fi
  config=()
  [[ -r $file/config.toml ]] && config=("${(@f)$(<$file/config.toml)}")
}

# Ids of some kinds with their labels, the latest first.
_svc_ids() {
  local file line
  local -a parts shown
  _svc_recent_file "$chosen_profile" "$chosen_mode" "$chosen_base"
  [[ -r $file ]] || return 0
  for line in ${(f)"$(<$file)"}; do
    parts=("${(@ps:\t:)line}")
    [[ "|$1|" == *"|${parts[1]%%_*}_|"* && $parts[1] != *[^A-Za-z0-9_]* ]] || continue
    shown+=("$parts[1]${parts[3]:+:${parts[3]//:/\\:}}")
  done
  _describe -V -t ids 'seen lately' shown
}

_svc_profiles() {
  local line
  local -a config shown
  _svc_read_config
  for line in $config; do
    [[ $line == '[profiles.'*']'* ]] || continue
    line=${${line#'[profiles.'}%%]*}
    [[ $line == *[^A-Za-z0-9_-]* ]] || shown+=($line)
  done
  _describe -t profiles profile shown
}

# Offers what fits a kind: w.NAME words, i.ord_|pay_ ids, f a path, p a profile, t any text.
_svc_values() {
  local kind
  local -a fitting begun
  for kind in ${(s:,:)${1#[+%]}}; do
    case $kind in
      w.*)
        _svc_words ${kind#w.}
        begun=(${(M)fitting:#*(=|:)})
        fitting=(${fitting:#*(=|:)})
        _describe -V -t values ${${kind#w.}//_/ } fitting -- begun -S ''
        ;;
      i.*) _svc_ids ${kind#i.} ;;
      f) _files ;;
      p) _svc_profiles ;;
      t) _message "${hint:-a value}" ;;
    esac
  done
}

# Offers options of a list of `--name kind help`, without those that were given and short names.
_svc_options() {
  local name kind help
  local -a shown
  for name kind help; do
    [[ $name == -[^-]* ]] && continue
    [[ $kind != +* && -n ${given[(re)$name]-} ]] && continue
    shown+=("$name:${help//:/\\:}")
  done
  # Not the tag `options`: zsh would show them only behind a dash.
  _describe -V -t svc-options option shown
}

# Sets `kind` and `hint` of an option; empty where the command does not take it.
_svc_kind() {
  local name help
  kind='' hint=''
  for name kind hint in $options $shared; do
    [[ $name == $1 ]] && return
  done
  kind='' hint=''
}

_svc_note() {
  case $1 in
    --profile) chosen_profile=$2 ;;
    --base-url) chosen_base=$2 ;;
    --live) chosen_mode=live ;;
    --test) chosen_mode=test ;;
  esac
}

_svc() {
  emulate -L zsh
  setopt extended_glob no_glob_subst
  local path_='' word kind='' hint='' expected='' option='' literal=''
  local chosen_profile='' chosen_mode='' chosen_base=''
  local -a commands options arguments shared given line
  local -i at=0
  line=("${(@Q)words[2,CURRENT-1]}")
  _svc_command ''
  for word in "${(@)line}"; do
    [[ $expected == %* && $word == -* ]] && expected=''
    if [[ -n $expected ]]; then
      _svc_note $option $word
      expected=''
      continue
    fi
    case $literal$word in
      --) literal=. ;;
      --*=*) given+=(${word%%=*}); _svc_note ${word%%=*} ${word#*=} ;;
      -?*)
        given+=($word)
        option=$word
        _svc_kind $word
        case $kind in ''|-) _svc_note $word ;; *) expected=$kind ;; esac
        ;;
      *)
        if [[ -z $literal && $at == 0 && -n ${commands[(r)${(b)word}(|:*)]-} ]]; then
          path_=${path_:+$path_ }$word
          _svc_long_name
          _svc_command $path_
        else
          at+=1
        fi
        ;;
    esac
  done
  [[ $expected == %* ]] && expected=''
  if [[ -n $expected ]]; then
    _svc_values $expected
  elif [[ -z $literal && $PREFIX == --*=* ]]; then
    _svc_kind ${PREFIX%%=*}
    compset -P '*='
    [[ -n $kind && $kind != - ]] && _svc_values $kind
  elif [[ -z $literal && $PREFIX == -* ]]; then
    _svc_options $options $shared
  else
    if (( $#commands && ! at )) && [[ -z $literal ]]; then
      _describe -V -t commands command commands
    fi
    kind=''
    if (( at < $#arguments )); then kind=$arguments[at+1]
    elif [[ ${arguments[-1]-} == +* ]]; then kind=$arguments[-1]; fi
    hint=argument
    if [[ -n $kind ]]; then _svc_values $kind
    elif [[ -z $literal$PREFIX ]] && (( ! $#commands )); then _svc_options $options; fi
  fi
  (( compstate[nmatches] ))
}

_svc_long_name() {
  case $path_ in
@long_names     <short>) path_=<name> ;;
  esac
}

_svc_words() {
  case $1 in
@words     <name>) fitting=<words> ;;
    *) fitting=() ;;
  esac
}

_svc_own() {
  case $1 in
@commands     <path>)
@commands       commands=<commands>
@commands       options=<options>
@commands       arguments=<arguments>
@commands       shared=<groups>
@commands       ;;
  esac
}

_svc_shared() {
  case $shared in
@combinations     <groups>) shared=<options> ;;
  esac
}

_svc_command() {
  _svc_own "$1"
  _svc_shared
}

if [[ $funcstack[1] == _svc ]]; then _svc "$@"; fi
