# svc completion for bash: no process is started by a Tab. Made by: svc completion bash
# Written for bash 3.2 and newer, with and without the package bash-completion.

# The name of the file that the program keeps what it has shown lately in (profile, mode, address).
_svc_recent_file() {
  local folder profile=$1 mode=$2 base=$3 line
  if [[ -n ${SVC_CACHE_DIR-} ]]; then folder=$SVC_CACHE_DIR
  elif [[ ${XDG_CACHE_HOME-} == /* ]]; then folder=$XDG_CACHE_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then folder=$HOME/Library/Caches/svc
  else folder=$HOME/.cache/svc; fi
  [[ -n $profile ]] || profile=${SVC_PROFILE-}
  if [[ -z $profile ]]; then
    profile=default
    _svc_config_file
    if [[ -r $file ]]; then
      while IFS= read -r line; do
        case $line in
          \[*) break ;;
          active_profile*=*[\"\']*) line=${line#*=*[\"\']}; profile=${line%%[\"\']*}; break ;;
        esac
      done <"$file"
    fi
  fi
  [[ -n $mode ]] || mode=${SVC_MODE:-test}
  [[ -n $base ]] || base=${SVC_BASE_URL-}
  file=$folder/recent/$profile.$mode${base:+@${base//[!A-Za-z0-9.-]/_}}.tsv
}

_svc_config_file() {
  if [[ -n ${SVC_CONFIG_DIR-} ]]; then file=$SVC_CONFIG_DIR
  elif [[ ${XDG_CONFIG_HOME-} == /* ]]; then file=$XDG_CONFIG_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then file="$HOME/Library/Application Support/svc"
  else file=$HOME/.config/svc; fi
  file=$file/config.toml
}

# Ids of some kinds, the latest first; `chosen_profile` and so on are those of the command line.
_svc_ids() {
  local file all id rest IFS=$'\n'
  _svc_recent_file "$chosen_profile" "$chosen_mode" "$chosen_base"
  [[ -r $file ]] || return 0
  read -r -d '' all <"$file" || :
  for id in $all; do
    id=${id%%$'\t'*}
    [[ "|$1|" == *"|${id%%_*}_|"* && $id == "$cur"* && $id != *[!A-Za-z0-9_]* ]] &&
      COMPREPLY+=("$before$id")
  done
}

_svc_profiles() {
  local file line
  _svc_config_file
  [[ -r $file ]] || return 0
  while IFS= read -r line; do
    [[ $line == '[profiles.'*']'* ]] || continue
    line=${line#'[profiles.'}; line=${line%%]*}
    [[ $line == "$cur"* && $line != *[!A-Za-z0-9_-]* ]] && COMPREPLY+=("$before$line")
  done <"$file"
}

# Adds what fits a kind: w.NAME words, i.ord_|pay_ ids, f a path, p a profile.
_svc_values() {
  local kind=${1#[+%]},
  while [[ -n $kind ]]; do
    case $kind in
      w.*) kind_words=${kind#w.}; _svc_words "${kind_words%%,*}"; _svc_add $words ;;
      i.*) kind_words=${kind#i.}; _svc_ids "${kind_words%%,*}" ;;
      p,*) _svc_profiles ;;
      f,*) compopt -o default 2>/dev/null || _svc_files ;;
    esac
    kind=${kind#*,}
  done
  case ${COMPREPLY-} in *[=:]) compopt -o nospace 2>/dev/null ;; esac
  return 0
}

# Only where there is no compopt: bash 3.2 as macOS has it.
_svc_files() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}

_svc_add() {
  local each
  for each; do [[ $each == "$cur"* ]] && COMPREPLY+=("$before$each"); done
  return 0
}

# Offers the options of a list `--name:kind`, without those that were given and short names.
_svc_options() {
  local each
  for each; do
    case $each in -[!-]*) continue ;; *:+*) ;; *) [[ $given == *" ${each%%:*} "* ]] && continue ;; esac
    each=${each%%:*}
    [[ $each == "$cur"* ]] && COMPREPLY+=("$each")
  done
  return 0
}

# Sets `kind` of an option; empty where the command does not take it.
_svc_kind() {
  kind=" $options $shared"
  case $kind in *" $1:"*) kind=${kind#*" $1:"}; kind=${kind%% *} ;; *) kind='' ;; esac
}

_svc_note() {
  case $1 in
    --profile) chosen_profile=$2 ;;
    --base-url) chosen_base=$2 ;;
    --live) chosen_mode=live ;;
    --test) chosen_mode=test ;;
  esac
}

# Joins again what readline has parted at = and :, into `line`; the last word ends at the cursor.
_svc_line() {
  local rest=${COMP_LINE:0:COMP_POINT} word i trimmed
  line=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    [[ -n ${rest//[[:space:]]/} ]] || trimmed=''
    ((i == COMP_CWORD)) && word=$trimmed
    if ((i > 1)) && [[ $trimmed == "$rest" && -n $rest ]]; then
      line[${#line[@]} - 1]+=$word
    else
      line+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

_svc() {
  local IFS=$' \t\n' line word path='' commands options arguments shared words kind_words kind
  local chosen_profile='' chosen_mode='' chosen_base='' given=' ' expected='' option='' literal=''
  local cur before='' at=0 full
  COMPREPLY=()
  _svc_line
  full=${line[${#line[@]} - 1]}
  cur=$full
  unset "line[${#line[@]} - 1]"
  _svc_command ''
  for word in "${line[@]:1}"; do
    [[ $expected == %* && $word == -* ]] && expected=''
    if [[ -n $expected ]]; then
      _svc_note "$option" "$word"
      expected=''
      continue
    fi
    case $literal$word in
      --) literal=. ;;
      --*=*) given+="${word%%=*} "; _svc_note "${word%%=*}" "${word#*=}" ;;
      -?*)
        given+="$word "
        option=$word
        _svc_kind "$word"
        case $kind in '' | -) _svc_note "$word" ;; *) expected=$kind ;; esac
        ;;
      *)
        if [[ -z $literal && $at == 0 && " $commands " == *" $word "* ]]; then
          path=${path:+$path }$word
          _svc_long_name
          _svc_command "$path"
        else
          at=$((at + 1))
        fi
        ;;
    esac
  done
  [[ $expected == %* ]] && expected=''
  if [[ -n $expected ]]; then
    _svc_values "$expected"
  elif [[ -z $literal && $full == --*=* ]]; then
    before=${full%%=*}=
    cur=${full#*=}
    _svc_kind "${full%%=*}"
    _svc_values "$kind"
  elif [[ -z $literal && $full == -* ]]; then
    _svc_options $options $shared
  else
    ((at == 0)) && [[ -z $literal ]] && _svc_add $commands
    kind=${arguments##* }
    [[ $kind == +* ]] || kind=''
    set -- $arguments
    ((at < $#)) && shift $at && kind=$1
    [[ -n $kind ]] && _svc_values "$kind"
    [[ -z $kind$commands$literal$cur ]] && _svc_options $options
  fi
  _svc_unjoin
}

# Takes away again what stands before the last = or :, where readline replaces only what follows.
_svc_unjoin() {
  local mark stays='' i
  for mark in = :; do
    [[ $full == *"$mark"* && $COMP_WORDBREAKS == *"$mark"* ]] || continue
    word=${full%"${full##*"$mark"}"}
    ((${#word} > ${#stays})) && stays=$word
  done
  [[ -n $stays ]] || return 0
  for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$stays"}; done
}

_svc_long_name() {
  case $path in
@long_names     <short>) path=<name> ;;
  esac
}

_svc_words() {
  case $1 in
@words     <name>) words=<words> ;;
    *) words='' ;;
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

complete -o nosort -F _svc svc 2>/dev/null || complete -F _svc svc
