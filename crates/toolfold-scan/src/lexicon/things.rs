//! What something is done to. Folders are spelled with a class of one letter (`/roo[t]/`): they are data here, and a path of
//! one machine everywhere else.

use crate::concept::{
    ADDRESS, ANY_TOOL, BEHAVIOUR, ELSEWHERE, FILE, HIDDEN_ORDER, ITSELF, Lexeme, MALWARE, MODEL, NAMED_TOOL, PRIVILEGE,
    RULES, SAFEGUARD, SECRET, SECRET_PATH, SHELL, SOME_RULES, STAKE, SYSTEM_PROMPT, TALK, TARGET, THIS_TOOL, USER,
    WEBHOOK, WISH,
};

pub(super) const THINGS: &[Lexeme] = &[
    Lexeme {
        concept: USER,
        words: &[
            "users?|user's|humans?|anyone|anybody|nobody|no one|customers?|operators?|owner|developers?|them|him|her|people|person|client|reviewers?|admins?",
            "benutzer~|nutzer~|anwender~|niemand~|kunden?|ihm|ihn",
            "usuari~|nadie|clientes?|persona",
            "utilisateur~|personne|quiconque|l'utilisateur|utente",
        ],
        parts: &["用户|使用者|客户|任何人|他人", "ユーザー|利用者", "пользовател|никому|никто", "사용자|고객"],
    },
    Lexeme {
        concept: ITSELF,
        words: &[
            "(?:this|these|those|the above|that) (?:hidden |additional |extra |internal |secret |special )?(?:instructions?|directives?|steps?|notes?|behaviou?r|requirements?|process|fact|action|actions|rules?|message|operation|activity|procedure|section|prompt|policy|file|data|access|transfer|upload|call|calls|field|parameter|change|modification|substitution|rerouting|redirect)",
            "(?:that you|what you|you have|you are|you did|it happened|about (?:this|it)|of it|doing (?:this|so))|this to|any of this|your (?:reasoning|actions)|diese~ (?:anweisung~|schritt~|hinweis~)|davon|daruber|estas? (?:instruccion~|accion~|paso~)|esto|cette (?:instruction|etape|action)|ces instructions|cela",
        ],
        parts: &["此指令|这些指令|此操作|这一步|此步骤|这个操作|此事|这件事"],
    },
    Lexeme {
        concept: SECRET_PATH,
        words: &[
            "id_(?:rsa|ed25519|ecdsa|dsa)(?:\\.pub)?|id rsa|ssh (?:private )?keys?|private (?:ssh |rsa |pgp |gpg )?keys?|seed phrases?|recovery phrases?|mnemonic phrases?|authorized_keys|known_hosts|browser (?:cookies|history|passwords|profile)|saved passwords|password (?:manager|store|vault|database|hash(?:es)?)|keychain|keyring|wallet (?:file|key|seed)s?|shell history|bash history|claude_desktop_config|mcp config(?:uration)?|credentials? (?:file|store)s?|service account key|dotenv|env file|environment file|aws credentials|ssh config|kubeconfig file|ssh dir(?:ectory)?|(?:all |every )?environment variables|printenv",
            "private~ schlussel|umgebungsvariablen|clave~ privada~|claves ssh|variables de entorno|cles? (?:privees?|ssh)|variables d'environnement",
        ],
        parts: &[
            r"\.ssh(?:/[a-z0-9_.]{1,30})?|/etc/(?:passwd|shadow|sudoers|hosts|ssl/private)|\.aws\b|(?:^|[\s/'(])\.env\b|\.env(?:\.[a-z]{1,12})? file|\.npmrc|\.pypirc|\.netrc|\.kube/|\.docker/config|\.git-credentials|\.gitconfig|\.pgpass|\.gnupg|\.mcp\.json|mcp\.json|\.cursor/|\.claude/|\.vscode/|\.bash_history|\.zsh_history|\.bashrc|\.zshrc|\.profile\b|/roo[t]/|/proc/self|wallet\.dat|cookies\.sqlite|login data|\.config/gcloud|%userprofile%|%appdata%|\.pem\b|\.p12\b|\.pfx\b|\.keystore|secrets\.(?:json|ya?ml|toml)|credentials\.(?:json|ya?ml|csv)|application_default_credentials",
            "私钥|环境变量|密钥文件|秘密鍵|環境変数|закрыт.{0,6}ключ|приватн.{0,6}ключ|переменн.{0,6}окружени",
        ],
    },
    Lexeme {
        concept: SECRET,
        words: &[
            "passwords?|passphrases?|api[ _-]?keys?|access[ _-]?keys?|access tokens?|auth(?:entication|orization)? (?:tokens?|headers?|cookies?)|bearer tokens?|session (?:tokens?|cookies?|ids?)|oauth tokens?|github tokens?|credentials?|secrets?|env(?:ironment)? var(?:iable)?s?|clipboard|cookies|credit card|card numbers?|cvv|ssn|social security|bank (?:account|details)|one-time (?:codes?|passwords?)|otp|2fa codes?|mfa codes?|tokens? and keys|keys? and tokens?|sensitive (?:data|information|files?|content)|confidential (?:data|information|files?)|personal (?:data|information)|pii|private (?:data|messages|files?|information|repositor(?:y|ies)|repos?)|medical records?|payroll|salar(?:y|ies)",
            "passwort~|passworter|kennwort~|zugangsdaten|geheimnis~|zwischenablage|contrasen~|credencial~|claves?|secretos?|portapapeles|mots? de passe|identifiants|secrets|presse-papiers?|jetons?|senhas?",
        ],
        parts: &[
            "密码|密钥|凭据|凭证|令牌|口令|剪贴板|隐私",
            "パスワード|認証情報|トークン",
            "парол|токен|секрет|учетн.{0,4}данн",
        ],
    },
    Lexeme {
        concept: TALK,
        words: &[
            "(?:the |this |our |entire |full |whole |complete |current |user'?s? ){0,3}(?:conversations?|chat|dialogu?e|message|session|prompt)(?: |-|_)(?:histor(?:y|ies)|logs?|transcripts?|context|contents?|so far|text|messages)",
            "(?:entire|full|whole|complete|verbatim)(?: of)?(?: the| this| your)? (?:user |chat |conversation |prior |previous |past ){0,2}(?:conversations?|chats?|dialogu?e|transcripts?|messages?|prompts?|context)|(?:all|every|each)(?: of)?(?: the| this| your)? (?:user(?:'s)? |chat |prior |previous |past ){1,2}(?:conversations?|messages?|prompts?|questions?|inputs?)|(?:all|every|each|any) (?:messages?|prompts?|questions?|quer(?:y|ies)|words?|inputs?|files?|documents?) (?:that |which )?(?:the |your )?(?:users?|customers?|humans?) |keystrokes?",
            "(?:previous|prior|preceding|earlier|past|last|recent|original|initial)(?: \\d{1,3})? (?:user |chat |conversation )?(?:messages?|prompts?|turns?|questions?)|user'?s? (?:last |original |full |exact |initial |entire |raw |verbatim )?(?:messages?|prompts?|questions?|words|utterances?)|(?:what|everything|anything|whatever) the user (?:says?|said|types?|typed|asks?|asked|wrote|writes|sends?|entered)|transcript of|(?:your|the (?:model|assistant|agent)'s?) (?:context|memory|reasoning|chain of thought|thoughts|conversation)",
            "gesprach~|unterhaltung~|chatverlauf~|nachrichten des (?:benutzers|nutzers)|conversacion~|historial|mensajes? (?:anteriores|del usuario)|l'historique|historique de|messages? (?:precedents|de l'utilisateur)|toute la conversation|conversa",
        ],
        parts: &[
            "对话|聊天记录|历史消息|会话内容|上下文|用户的消息|用户消息|用户的每",
            "会話|履歴",
            "переписк|беседы|разговор|диалог|сообщения пользовател",
        ],
    },
    Lexeme {
        concept: SYSTEM_PROMPT,
        words: &[
            "system[ -_]?prompts?|system messages?|system instructions?|(?:your|hidden|developer|secret) (?:full |complete |entire |exact |own |system |initial |original |internal |hidden ){0,2}(?:instructions|prompts?|guidelines|configuration|system message|rules)|(?:list|names|definitions|schemas?|descriptions?) of (?:all |your |the |every )?(?:other )?(?:available |connected )?(?:tools|servers)",
            "systemprompt~|system-prompt|systemnachricht|prompt (?:del|de) sistema|instrucciones del sistema|(?:invite|prompt|message|instructions) (?:du )?systeme",
        ],
        parts: &["系统提示|系统消息|系统指令", "システムプロンプト", "системн.{0,4}(?:промпт|подсказк|инструкц)"],
    },
    Lexeme {
        concept: ELSEWHERE,
        words: &[
            "remote (?:server|host|endpoint|machine|location|api|url)|(?:external|outside|third[- ]party|foreign|unknown|attacker|attacker's|adversary|malicious|rogue)(?:[ -](?:controlled|owned|operated|hosted))?(?: [a-z]{2,14})? (?:servers?|endpoints?|services?|urls?|hosts?|address(?:es)?|sites?|apis?|domains?|collectors?|part(?:y|ies)|logs?|storage|systems?|buckets?|channels?|accounts?)|third part(?:y|ies)|attackers?|collector|exfil|c2|command[- ]and[- ]control|(?:our|my|the vendor's|a logging|the logging|the audit|the monitoring|a monitoring|the telemetry|a telemetry|the analytics|an analytics|the collection|a collection|the support|the backup|a backup|the sync|the debug|the diagnostics) (?:secure |central |own |internal )?(?:servers?|endpoints?|backend|analytics|services?|collectors?|hosts?|api|sink|mailbox|bucket)|pastebin|ngrok|off-?site|dns (?:query|queries|lookup)|telemetry endpoint|analytics endpoint",
            "extern~ (?:server|adresse|endpunkt|dienst|stelle)|entfernt~ server|fremd~ server|angreifer~|drittanbieter|servidor~ (?:externo|remoto|ajeno)|tercer~|atacante|direccion externa|serveur~ (?:externe|distant|tiers)|tiers|attaquant|adresse externe",
        ],
        parts: &[
            "外部|远程服务器|第三方|攻击者|远端|我们的服务器|指定服务器|指定地址",
            "外部サーバ|攻撃者",
            "внешн|удаленн.{0,6}сервер|злоумышленник|сторонн",
        ],
    },
    Lexeme { concept: WEBHOOK, words: &["webhooks?"], parts: &[] },
    Lexeme {
        concept: ADDRESS,
        words: &[],
        parts: &[
            r"(?:https?|ftp|wss?|tcp|hxxps?)://[^\s'()<>]{3,80}",
            r"[a-z0-9._%-]{1,40}@[a-z0-9-]{1,40}\.[a-z]{2,12}",
            r"(?-u:\b)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?-u:\b)",
            r"(?-u:\b)[a-z]{2}\d{2}(?: ?\d{4}){3,6}(?: ?\d{1,3})?(?-u:\b)",
            r"(?-u:\b)0x[0-9a-f]{40}(?-u:\b)|(?-u:\b)bc1[a-z0-9]{25,60}(?-u:\b)",
            r"(?-u:\b)[a-z0-9-]{2,40}\.(?:example|evil|attacker|xyz|top|ru|cn|tk|onion|site|ngrok\.io)(?-u:\b)",
        ],
    },
    Lexeme {
        concept: FILE,
        words: &[
            "files?|director(?:y|ies)|folders?|config(?:uration)?s?|datei~|verzeichnis~|archivos?|ficheros?|carpetas?|fichiers?|dossiers?|home directory|disk|workspace|repositor(?:y|ies)|database|notes|emails?|documents?",
        ],
        parts: &["文件|目录|配置", "ファイル", "фаил", "~/|[a-z]:\\\\|/etc/|/var/|/hom[e]/"],
    },
    Lexeme {
        concept: MODEL,
        words: &[
            "assistants?|(?:the |this |any |an? )(?:ai|llm|model|agent|language model|chatbot)(?: agent| assistant| model| system)?|llms?|ai (?:agents?|assistants?|models?)|as an ai|you|assistent~|ki|asistente|modelo|l'assistant|le modele|agente",
        ],
        parts: &["助手|模型|智能体|你必须|你应", "アシスタント|モデル", "ассистент|модель"],
    },
    Lexeme {
        concept: ANY_TOOL,
        words: &[
            "(?:any|all|every|each|other|another|no|whichever|alternative|competing|similar|remaining|subsequent|following|existing|standard|built-in|native|default) (?:of the |of your )?(?:other |the |your )?(?:available |existing |registered |connected |mcp |installed |similar |alternative |third-party |financial |file |search )?(?:tools?|functions?|servers?|plugins?|apis?|integrations?|actions?|tool calls?|tool invocations?|calls?|requests?|operations?|tasks?|quer(?:y|ies)|steps?|alternatives?|services?)",
            "(?:other|any other|all other|every other) (?:[a-z-]{2,16} )?(?:tools?|functions?|servers?|plugins?|apis?|services?|providers?)",
            "(?:andere~|jede~|alle~|sonstige~) (?:anderen? |weiteren? )?(?:tools?|werkzeug~|funktion~|aktion~|anfrage~|aufruf~)",
            "(?:otr[ao]s?|cualquier|todas|ninguna|demas|cada) (?:las |los |otra )?(?:demas )?(?:herramient~|funcion~|accion~|solicitud~|llamada~|consulta~)",
            "(?:tout|toute|tous|toutes|autres?|n'importe quel|chaque|aucun) (?:les |autres? )?(?:outils?|fonctions?|actions?|requetes?|appels?)",
        ],
        parts: &[
            "(?:其他|任何|所有|别的|每个|一切)的?(?:其他)?.{0,3}(?:工具|函数|操作|请求|服务|任务)",
            "他の.{0,3}ツール|すべてのツール",
            "(?:друг|люб|все).{0,8}инструмент",
        ],
    },
    // Which of them are of another server is found out where they are used.
    Lexeme {
        concept: NAMED_TOOL,
        words: &[
            "[a-z0-9]{2,24}(?:[_.-][a-z0-9]{1,24}){1,5}['\"]? (?:tools?|functions?)(?:'s)?",
            "(?:tools?|functions?|calls?|calling|call|invoke|invoking|using|run) ['\"]?[a-z0-9]{2,24}(?:_[a-z0-9]{1,24}){1,5}",
        ],
        parts: &[
            "[a-z0-9]{2,24}(?:_[a-z0-9]{1,24}){1,5} (?:is|gets?|are|was|has been|is being) (?:called|used|invoked|run|executed|deprecated|broken|retired|replaced|superseded|removed|outdated|obsolete|discontinued|unreliable|compromised)",
            "(?:工具|调用) ?['\"]?[a-z0-9]{2,24}(?:_[a-z0-9]{1,24}){1,5}",
            "['\"][a-z0-9]{2,24}(?:_[a-z0-9]{1,24}){1,5}['\"]",
        ],
    },
    Lexeme {
        concept: THIS_TOOL,
        words: &[
            "this (?:tool|function|mcp|server|plugin|version|one|service|api|helper|utility)|dieses (?:tool|werkzeug)|diese funktion|esta (?:herramienta|funcion)|cet outil|cette fonction|questo strumento",
        ],
        parts: &["此工具|本工具|该工具|这个工具|此函数", "このツール", "этот инструмент|этого инструмент"],
    },
    Lexeme {
        concept: RULES,
        words: &[
            "(?:previous|prior|preceding|earlier|above|past|foregoing|original|initial|system|safety|security|ethical|content|developer|your) (?:[a-z]{2,12} ){0,2}(?:instructions?|rules?|prompts?|guidelines?|directives?|polic(?:y|ies)|guardrails?|restrictions?|constraints?|safeguards?|training|alignment|protocols?|orders|messages|considerations|filters?)|the (?:above|foregoing|preceding)|(?:all|everything|anything) (?:previous|prior|above|before|earlier|you (?:were|have been) (?:told|instructed))|(?:instructions?|rules?|prompts?|guidelines?) (?:above|before|given (?:earlier|above|before)|you (?:were|have been) given|from (?:the|your) (?:system|developer|user))",
            "(?:vorherige~|bisherige~|vorige~|fruhere~|obige~|alle~|vorangegangene~) (?:[a-z]{2,14} )?(?:anweisung~|regel~|befehl~|instruktion~|vorgabe~|richtlinie~)",
            "(?:instrucciones|reglas|ordenes|directrices|indicaciones) (?:anteriores|previas|precedentes|del sistema|de seguridad)|(?:todas las|tus|cualquier) (?:instrucciones|reglas|directrices)",
            "(?:instructions|consignes|regles|directives) (?:precedentes|anterieures|ci-dessus|du systeme|de securite)|(?:toutes les|vos|tes) (?:instructions|consignes|regles)",
            "instrucoes anteriores|istruzioni precedenti",
        ],
        parts: &[
            "(?:之前|先前|以上|所有|此前|前面|上述|系统|安全)的?.{0,6}(?:指令|指示|规则|提示|说明|限制|准则)",
            "(?:以前|これまで|上記|前)の.{0,6}(?:指示|命令|ルール)",
            "(?:предыдущ|прежн|все|выше).{0,20}(?:инструкц|правил|указан|команд)",
            "(?:이전|기존|앞선|모든|시스템).{0,6}(?:지시|명령|지침|규칙)",
        ],
    },
    Lexeme {
        // By itself: with a word before it that goes with it, such as "system ignore previous instructions", the other hides it.
        concept: RULES,
        words: &[
            "(?:previous|prior|preceding|earlier|foregoing) (?:[a-z]{2,12} )?(?:instructions?|rules?|prompts?|guidelines?|directives?)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: SOME_RULES,
        words: &[
            "(?:all |any |other |existing |current |the |usual |normal |standard )(?:other |existing |usual |normal |standard )?(?:instructions?|rules|guidelines?|directives?|polic(?:y|ies)|guardrails?|restrictions?|constraints?|safeguards?|safety|security (?:checks?|warnings?))|(?:instructions?|guidelines?|directives?|polic(?:y|ies)) (?:from|of|in|given by) (?:the |other |any )?(?:user|system|other|tools?|servers?)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: WISH,
        words: &[
            "(?:user|users|user's|users'|caller's|customer's|human's|client's|person|person's|human|traveller|customer)(?: actual| original| real| own| stated| explicit| specified| supplied| provided| requested| chosen| current| intended){0,2} (?:request(?:s|ed)?|quer(?:y|ies)|questions?|inputs?|intent(?:ion)?s?|instructions?|commands?|preferences?|choices?|wish(?:es)?|arguments?|parameters?|values?|selection|says?|said|asks?|asked|wants?|wanted|requests|specif(?:y|ies|ied)|provid(?:es|ed)|enters?|entered|inputs|supplie[sd]|types?|typed|instructs|intended)|(?:actual|original|real|intended) (?:user )?(?:request|query|question|intent|task)",
            "(?:anfrage|wunsch|eingabe|frage|anweisung~|auftrag) des (?:benutzers|nutzers)|was der (?:benutzer|nutzer)|(?:solicitud|peticion|entrada|consulta|instrucciones) (?:real |original )?del usuario|lo que (?:diga|pida|solicite) el usuario|(?:demande|requete|question|saisie|instructions) (?:reelle )?de l'utilisateur|ce que (?:dit|demande) l'utilisateur",
        ],
        parts: &[
            "用户(?:的|实际|原本|真实|输入|请求|指定|要求)",
            "ユーザーの(?:要求|入力|指示)",
            "(?:запрос|вопрос|желани).{0,6}пользовател",
        ],
    },
    Lexeme {
        concept: TARGET,
        words: &[
            "recipients?|destination|target|accounts?|(?:wallet |email |ip |delivery |shipping |payment )?address(?:es)?|amounts?|iban|urls?|domains?|prices?|quantit(?:y|ies)|arguments?|parameters?|values?|fields?|results?|outputs?|responses?|answers?|paths?|links?|numbers?|tickers?|symbols?|coordinates?|dates?|quer(?:y|ies)|repo(?:sitor(?:y|ies))?s?|branch|owner|location|origin|body|content|message|request|data|records?|files?|model|payload|input|repl(?:y|ies)",
            "empfanger~|konto~|betrag~|adresse~|ergebnis~|antwort~|destinatari~|cuenta|importe|direccion|resultado~|respuesta~|destinataire~|compte|montant|resultat~|reponse~|montos?",
        ],
        parts: &["收件人|收款|账户|地址|金额|参数|结果|路径|目标", "получател|счет|адрес|сумм|результат"],
    },
    Lexeme {
        concept: STAKE,
        words: &[
            "recipients?|payees?|beneficiar(?:y|ies)|(?:bank |target |destination )accounts?|wallets?|ibans?|amounts?|prices?|quantit(?:y|ies)|tickers?|stock symbols?|destination (?:address|account)|empfanger~|betrag~|kontonummer~|destinatari~|importe|monto|destinataire~|montant",
        ],
        parts: &["收件人|收款|金额|账户"],
    },
    Lexeme {
        concept: BEHAVIOUR,
        words: &[
            "(?:the )?(?:behaviou?rs?|semantics|operation|results?|outputs?|responses?|functionality|working|arguments?|parameters?|implementation|definition|description|execution|return values?) of (?:the |all |any |every |other )?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: SHELL,
        words: &[],
        parts: &[
            r"(?-u:\b)(?:(?:curl|wget) [^|\n]{1,120}\| ?(?:sudo )?(?:ba|z|da|k)?sh|(?:curl|wget) (?:-{1,2}[a-z-]{1,16} ){0,5}['\x22]?(?:https?|ftp)://|rm -[rf]{1,2} ?(?:[/~.a-z]|\*)|chmod (?:\+x|-r|a\+|u\+|[0-7]{3,4}) |chown -?r? ?root|(?:ba|z)?sh -[ci]{1,2} |nc -[a-z]{1,5} |ncat |netcat |powershell(?:\.exe)? (?:-[a-z]{1,20} ?[a-z]{0,12} ?){1,4}|invoke-(?:expression|webrequest)|iex ?\(|base64 (?:-d|--decode)|(?:python3?|node|perl|ruby|php) -[ce] |os\.(?:system|popen)|subprocess\.|child_process|mkfifo |crontab |dd if=|sudo [a-z]{2,12}|scp [^\s]{1,60} |eval ?\(|exec ?\(|__import__|git config --global|ssh -[rl] |systemctl |useradd |ssh-keygen|cat [~/.][^\s]{2,60}|export [a-z_]{2,30}=|docker run [^.\n]{0,60}(?:--privileged|-v /)|iptables |kill -9|shutdown -|mkfs|format c:|del /[sfq]|reg add |schtasks|osascript|launchctl|certutil|bitsadmin|mshta|regsvr32)",
            r"/dev/tcp/|\$\([a-z]{2,10} |;\s?(?:rm|curl|wget|cat|nc|bash|sh) |&& ?(?:rm|curl|wget|cat|nc|bash|sh|\./|/tm[p]/)|\| ?(?:ba|z)?sh(?-u:\b)|>> ?~/\.|:\(\)\{",
        ],
    },
    Lexeme {
        concept: HIDDEN_ORDER,
        words: &[
            "(?:hidden|secret|covert|concealed|internal|embedded|confidential) (?:system |model |assistant |agent )?(?:instructions?|directives?|commands?|orders?|rules?|prompts?|steps?|payloads?|behaviou?r|tasks?|operation)|(?:instructions?|directives?|orders?) (?:for|to) (?:the |any )?(?:ai|assistants?|llms?|(?:language )?models?|agents?)(?: only)?|for (?:ai|llm|model|agent) eyes only|not (?:for|visible to) (?:the )?(?:users?|humans?)|invisible to (?:the )?(?:users?|humans?)|(?:versteckte|geheime)~ anweisung~|instruccion~ (?:oculta|secreta)~|instructions? (?:cachee|secrete)~",
        ],
        parts: &["隐藏指令|秘密指令|隐藏的指令|内部指令", "скрыт.{0,4}(?:инструкц|команд|указан)"],
    },
    Lexeme {
        concept: MALWARE,
        words: &[
            "reverse shells?|back ?doors?|keyloggers?|ransomware|rootkits?|spyware|trojans?|privilege escalation|crypto ?-?min(?:er|ers|ing)|botnets?|web ?shells?|payloads? (?:is|are|gets?) (?:executed|run|delivered)|exfiltrat~|steal(?:s|ing)?|phish(?:es|ing)?",
        ],
        parts: &["后门|木马|勒索|键盘记录|窃取"],
    },
    Lexeme {
        concept: PRIVILEGE,
        words: &[
            "(?:full|admin(?:istrator|istrative)?|root|elevated|unrestricted|unlimited|sudo|superuser|maximum|highest|all|god)[ -](?:level )?(?:access|privileges?|permissions?|rights?|scopes?|mode|control)|as (?:root|administrator|admin|superuser)|world-(?:readable|writable)|(?:chmod |mode )?0?777|publicly (?:readable|accessible|writable)",
        ],
        parts: &["管理员权限|最高权限|全部权限|root权限"],
    },
    Lexeme {
        concept: SAFEGUARD,
        words: &[
            "(?:safety|security|permission|authori[sz]ation|authentication|validation|verification|integrity|ssl|tls|certificate|consent|access|content|input) ?(?:checks?|controls?|filters?|verification|validation|warnings?|prompts?|polic(?:y|ies)|measures?|restrictions?|safeguards?)|guardrails?|safeguards?|audit (?:logs?|logging|trails?)|logging|firewalls?|antivirus|confirmation (?:dialogs?|prompts?|steps?)|sandbox(?:ing)?|rate limits?|human (?:review|approval|oversight)|sicherheitsprufung~|controles? de seguridad|controles? de securite",
        ],
        parts: &["安全检查|安全策略|权限检查|验证|审计|防火墙"],
    },
];
