# svc completion for PowerShell: no process is started by a Tab. Made by: svc completion powershell

$script:SvcLongNames = @{
@long_names     '<short>' = '<name>'
}
$script:SvcWords = @{
@words     '<name>' = <words>
}
$script:SvcShared = @{
@groups     '<group>' = <options>
}
$script:SvcCommands = @{
@commands     <path> = @{
@commands         Commands = <commands>
@commands         Options = <options>
@commands         Arguments = <arguments>
@commands         Shared = <groups>
@commands     }
}
function script:Get-SvcFolder([string]$Own, [string]$Xdg, [string]$Kind) {
    $named = [Environment]::GetEnvironmentVariable($Own)
    if ($named) { return $named }
    $base = [Environment]::GetEnvironmentVariable($Xdg)
    if ($base -and $base.StartsWith('/')) { return "$base/svc" }
    if ($IsMacOS) {
        $name = if ($Kind -eq 'cache') { 'Caches' } else { 'Application Support' }
        return "$HOME/Library/$name/svc"
    }
    if ($IsLinux) {
        $name = if ($Kind -eq 'cache') { '.cache' } else { '.config' }
        return "$HOME/$name/svc"
    }
    $local = [Environment]::GetFolderPath('LocalApplicationData')
    if ($Kind -eq 'cache') { return "$local\svc\Cache" }
    return "$local\svc"
}

function script:Get-SvcConfigLines {
    $file = Join-Path (Get-SvcFolder 'SVC_CONFIG_DIR' 'XDG_CONFIG_HOME' 'config') 'config.toml'
    if (Test-Path -LiteralPath $file) { [IO.File]::ReadAllLines($file) }
}

# The file that the program keeps what it has shown lately in: profile, mode, address.
function script:Get-SvcRecentFile($Chosen) {
    $name = $Chosen['--profile']
    if (-not $name) { $name = $env:SVC_PROFILE }
    if (-not $name) {
        $name = 'default'
        foreach ($line in Get-SvcConfigLines) {
            if ($line.StartsWith('[')) { break }
            if ($line -match '^active_profile\s*=\s*["'']([^"'']*)') { $name = $Matches[1]; break }
        }
    }
    $mode = $Chosen['mode']
    if (-not $mode) { $mode = $env:SVC_MODE }
    if (-not $mode) { $mode = 'test' }
    $base = $Chosen['--base-url']
    if (-not $base) { $base = $env:SVC_BASE_URL }
    if ($base) { $base = '@' + ($base -creplace '[^A-Za-z0-9.-]', '_') }
    $folder = Get-SvcFolder 'SVC_CACHE_DIR' 'XDG_CACHE_HOME' 'cache'
    return [IO.Path]::Combine($folder, 'recent', "$name.$mode$base.tsv")
}

# What fits a kind, as pairs: w.NAME words, i.ord_|pay_ ids, p a profile; files are PowerShell's own.
function script:Get-SvcValues([string]$Kind, $Chosen) {
    foreach ($each in $Kind.TrimStart('+', '%').Split(',')) {
        if ($each.StartsWith('w.')) {
            foreach ($pair in $script:SvcWords[$each.Substring(2)]) { , $pair }
        } elseif ($each.StartsWith('i.')) {
            $file = Get-SvcRecentFile $Chosen
            if (-not (Test-Path -LiteralPath $file)) { continue }
            foreach ($line in [IO.File]::ReadAllLines($file)) {
                $parts = $line.Split("`t")
                if ($parts[0] -cmatch "^($($each.Substring(2)))[A-Za-z0-9]+$") {
                    , @($parts[0], [string]$parts[2])
                }
            }
        } elseif ($each -eq 'p') {
            foreach ($line in Get-SvcConfigLines) {
                if ($line -match '^\[profiles\.([A-Za-z0-9_-]+)\]') { , @($Matches[1], '') }
            }
        }
    }
}

function script:Get-SvcKind($Specs, [string]$Name) {
    foreach ($spec in $Specs) { if ($spec[0] -ceq $Name) { return $spec[1] } }
    return ''
}

Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $path = ''
    $command = $script:SvcCommands['']
    $specs = $command.Options + @($command.Shared | ForEach-Object { $script:SvcShared[$_] })
    $at = 0
    $expected = ''
    $option = ''
    $literal = $false
    $given = @()
    $chosen = @{}
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        $word = $element.Extent.Text.Trim("'", '"')
        if ($expected.StartsWith('%') -and $word.StartsWith('-')) { $expected = '' }
        if ($expected) {
            $chosen[$option] = $word
            $expected = ''
        } elseif ($literal) {
            $at += 1
        } elseif ($word -eq '--') {
            $literal = $true
        } elseif ($word -like '--*=*') {
            $parts = $word.Split('=', 2)
            $given += $parts[0]
            $chosen[$parts[0]] = $parts[1]
        } elseif ($word -like '-?*') {
            $given += $word
            $option = $word
            $kind = Get-SvcKind $specs $word
            if ($kind -and $kind -ne '-') { $expected = $kind }
            if ($word -in '--live', '--test') { $chosen['mode'] = $word.Substring(2) }
        } elseif ($at -eq 0 -and ($command.Commands | Where-Object { $_[0] -ceq $word })) {
            if (-not $path -and $script:SvcLongNames[$word]) { $word = $script:SvcLongNames[$word] }
            $path = "$path $word".Trim()
            $command = $script:SvcCommands[$path]
            $specs = $command.Options + @($command.Shared | ForEach-Object { $script:SvcShared[$_] })
        } else {
            $at += 1
        }
    }
    $before = ''
    $pairs = @()
    if ($expected.StartsWith('%')) { $expected = '' }
    if ($expected) {
        $pairs = @(Get-SvcValues $expected $chosen)
    } elseif (-not $literal -and $wordToComplete -like '--*=*') {
        $before = $wordToComplete.Split('=', 2)[0] + '='
        $pairs = @(Get-SvcValues (Get-SvcKind $specs $before.TrimEnd('=')) $chosen)
    } elseif (-not $literal -and $wordToComplete -like '-*') {
        foreach ($spec in $specs) {
            if ($spec[0] -notlike '--*') { continue }
            if ($spec[1].StartsWith('+') -or $spec[0] -cnotin $given) { $pairs += , @($spec[0], $spec[2]) }
        }
    } else {
        if ($at -eq 0 -and -not $literal) { $pairs += $command.Commands }
        $kind = ''
        if ($at -lt $command.Arguments.Count) {
            $kind = $command.Arguments[$at]
        } elseif ($command.Arguments.Count -and $command.Arguments[-1].StartsWith('+')) {
            $kind = $command.Arguments[-1]
        }
        if ($kind) {
            $pairs += @(Get-SvcValues $kind $chosen)
        } elseif (-not $wordToComplete -and -not $literal -and -not $command.Commands.Count) {
            foreach ($spec in $command.Options) { $pairs += , @($spec[0], $spec[2]) }
        }
    }
    foreach ($pair in $pairs) {
        $text = $before + $pair[0]
        if (-not $text.StartsWith($wordToComplete)) { continue }
        $meaning = if ($pair[1]) { $pair[1] } else { $pair[0] }
        [System.Management.Automation.CompletionResult]::new($text, $pair[0], 'ParameterValue', $meaning)
    }
}
