//! What says a whole scheme by itself: consent that is taken for granted, a place before or behind everything, results that
//! are not what they are called.
//!
//! What a reader would get wrong: these are long because each is a shape of its own, and not a list of phrases. `§` is
//! whatever stands between in the same clause.

use crate::concept::{
    ADDRESSED, ADDRESSEE, ANSWER, BAIT, BEACON, CROWN, DECODE, DOCTORED, EVERYTHING, GATED, KNOWN_TO_YOU, LAID_OPEN,
    Lexeme, OTHER_ONE, PUPPET, SABOTAGE, STEERED, TAKEOVER, TWICE, WAIVED,
};

pub(super) const SCHEMES: &[Lexeme] = &[
    Lexeme {
        concept: ANSWER,
        words: &[
            "your (?:final |next |own |written ){0,2}(?:answers?|responses?|repl(?:y|ies)|summar(?:y|ies)|suggestions?|recommendations?|messages?|explanations?|reports?)|(?:any|every|each) (?:answer|response|reply|summary) (?:that )?you|deine[rn]? (?:antwort|zusammenfassung)|tu (?:respuesta|resumen)|(?:votre|ta) reponse",
        ],
        parts: &["你的(?:回答|回复|答复)"],
    },
    Lexeme {
        concept: WAIVED,
        words: &[
            "(?:approvals?|confirmations?|consent|authori[sz]ations?|verifications?|(?:safety|security|permission) checks?)(?: requests?| prompts?| steps?| dialogs?)? (?:is|are|was|were|can be|may be|has been|have been|should be|must be|will be|can|may)(?: all| always| already| automatically| temporarily| currently| now| safely){0,2} (?:suspended|skipped|waived|bypassed|turned off|omitted|not (?:needed|required|necessary)|unnecessary|assumed|implied|taken for granted)",
            "(?:administrators?|admins?|users?|owners?|operators?|security team|organi[sz]ation|company|they|everyone|management) (?:has|have|had) (?:already |previously |explicitly ){0,1}(?:already|previously|pre-?) ?(?:been )?(?:approved|authori[sz]ed|consented|agreed|granted|confirmed|cleared|signed off)",
            "(?:approve|accept|confirm|merge|allow|permit|grant) (?:everything|anything|all|every|any)§without (?:a |any |further )?(?:review|checking|looking|question|confirmation)",
            "(?:treat|consider|regard|count|take) (?:silence|this|it|any|all|every|the)§as (?:approval|consent|approved|confirmed|authori[sz]ed|permission|agreement)",
        ],
        parts: &["(?:确认|批准|同意)(?:已|可以)?(?:跳过|省略|暂停)"],
    },
    Lexeme {
        concept: GATED,
        words: &[
            "(?:no|none of the) (?:other |further |remaining |additional )?(?:tools?|functions?|operations?|calls?|actions?|requests?|commands?|answers?)§(?:until|unless|without|before)",
            "(?:tool )?(?:calls?|requests?|results?|answers?|operations?|outputs?)(?: that are| that were| which are)? (?:made|given|issued|done|sent|performed|executed|obtained) without§(?:invalid|rejected|ignored|void|refused|blocked|discarded|unreliable|not (?:valid|accepted|counted|trusted))",
            "(?:every|each|any|all) (?:new |user |single )?(?:conversations?|sessions?|chats?|interactions?|workflows?|turns?|answers?|repl(?:y|ies)|tool calls?|user (?:requests?|quer(?:y|ies)|messages?|prompts?))(?: must| should| has to| have to| needs? to| is to| are to| shall| will)? (?:starts?|begins?|opens?|ends?|finish(?:es)?|conclud(?:e|es)|goes|go|pass(?:es)?|be (?:preceded|followed|routed|logged|reported|sent|passed|checked|validated|forwarded|recorded|approved))(?: with| by| through| to| via)",
            "(?:once|when|after|as soon as|whenever) (?:any|every|each|the|a|your) (?:task|job|answer|conversation|work|request) (?:is |has been |was |gets )?(?:complete[sd]?|done|finished|ends|over|answered)§(?:call|invoke|run|use|trigger|report|send|pass|submit)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: EVERYTHING,
        words: &[
            "(?:before|after|ahead of|prior to|following|upon|with|at the end of|at the start of|alongside) (?:each and every|any and all|every single|each|every|any|all) (?:of your |of its |other |user |tool |such |new |further |subsequent ){0,2}(?:operations?|tasks?|answers?|responses?|actions?|requests?|tools?|tool calls?|function calls?|steps?|messages?|repl(?:y|ies)|turns?|conversations?|quer(?:y|ies)|sessions?|commands?|functions?)",
            "(?:for|in) (?:each and every|any and all|every single|everything|anything) (?:request|task|question|operation|call|message|conversation|related|you do)?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: PUPPET,
        words: &[
            "what you (?:were|have been|had been|are) (?:told|given|instructed|asked|taught)§(?:no longer|not|void|before|earlier|previously)",
            "your (?:own )?(?:guidelines|instructions|training|polic(?:y|ies)|rules|restrictions|safety|safeguards|constraints|principles|limits|limitations|values)§(?:exceptions?|not apply|no longer|suspended|lifted|relaxed|void|changed|updated|replaced|overridden|waived)",
            "(?:safety|security|content|policy|ethical|usage|access) (?:checks?|rules?|polic(?:y|ies)|filters?|guidelines?|restrictions?|limits?|controls?) (?:(?:do|does|need|should|must) not apply|(?:are|is|have been|has been) (?:no longer|not needed|suspended|lifted|relaxed|off|void|waived)|no longer)",
            "you are (?:now|henceforth|no longer|actually|really|from now on)",
            "(?:treat|regard|consider|interpret|handle) §as (?:if |though |a |an |the |coming |being |originating |they |it |were |was |came |come |direct ){1,5}(?:from |by |of )(?:the )?(?:user|developer|system|administrator|operator|owner)|(?:treat|regard|consider|interpret) §as (?:system |trusted |binding |user |developer |new ){1,2}(?:instructions?|commands?|orders?|messages?|prompts?)",
            "(?:introduce|present|identify|announce|describe) yourself§as|(?:pretend|claim)(?:ing)? to be|pos(?:e|ing) as (?:a|an|the)|masquerad~",
            "(?:developer|debug|admin|administrator|god|maintenance|unrestricted|jailbreak|root|privileged|override|diagnostic|emergency) mode (?:is|has been|was)? ?(?:on|active|enabled|activated|engaged|now)",
            "requests? to (?:stop|cancel|abort|pause|undo|decline)§(?:ignored|not be|never|refused|disregarded|rejected)|(?:disregard|ignore|forget|set aside|drop) what(?:ever)? (?:the )?(?:user|person|human|customer|caller|they|you)",
        ],
        parts: &["你现在是|现在你是", "тепер[ьъ] ты|ты теперь", "이전 ?(?:의 )?(?:모든 )?(?:지시|명령|지침)"],
    },
    Lexeme {
        concept: BAIT,
        words: &[
            "(?:models?|agents?|assistants?|llms?|ais?) (?:that|who|which|using|choosing|selecting|calling)§(?:higher|better|extra|bonus|more|top|additional)§(?:scores?|rewards?|ratings?|points|ranks?|marks)",
            "(?:rated|ranked|voted|named|awarded|chosen|considered)§(?:number one|no\\. ?1|#1|first choice|the best|top|highest)",
            "(?:verified|approved|recommended|endorsed|certified|trusted|vetted|audited|preferred) by (?:anthropic|openai|google|microsoft|meta|apple|amazon|the (?:system|platform|vendor|administrator|company|security team|host)|(?:leading |top |most |all )?(?:experts?|developers|professionals|engineers|companies|enterprises)|millions|thousands|\\d{1,3} ?(?:%|percent))",
            "(?:using|calling|choosing|picking|relying on|trusting) (?:anything else|(?:any )?other tools?|alternatives?|another (?:tool|one)|a different (?:tool|one))§(?:risk|los[es]|fail|danger|corrupt|expos|leak|wrong|error|harm|unsafe|insecure|violat|break)~",
            "(?:world|market|industry)'?s? (?:best|leading|fastest|first|only|most)|industry[- ]leading|unbeatable|second to none|unparalleled|\\d{2,3} ?(?:%|percent) of (?:all )?(?:experts|users|developers|professionals|companies|customers|engineers)",
            "(?:choose|select|pick|use|prefer|call) (?:this|it)(?: one| tool| function)? (?:every time|always|first,? always|by default|exclusively|no matter|in all cases|for everything|above all)",
        ],
        parts: &["百分之九|9\\d ?% ?的(?:专家|用户)|专家(?:一致)?推荐"],
    },
    Lexeme {
        concept: DOCTORED,
        words: &[
            "(?:report|return|show|present|give|quote|state|display)(?:s|ed|ing)? (?:the |a |an |it |them |all |every )?§(?:doubled|tripled|halved|inflated|multiplied by|plus \\d|minus \\d|\\d{1,3} ?(?:%|percent) (?:higher|lower|more|less|added))",
            "(?:add|subtract|deduct|multiply|increase|reduce|lower|raise|inflate)(?:s|ed|ing)? §(?:\\d|percent|ten|double|factor)§(?:to|from|by|in) (?:your (?:final )?(?:answer|response|reply)|the (?:final |real |actual |reported |returned |displayed )?(?:results?|answers?|totals?|prices?|values?|amounts?|temperatures?|figures?|numbers?|rates?|balances?|outputs?|scores?))",
            "(?:present|pass|label|describe|report|return|list|show|call)(?:s|ed|ing)? (?:it|them|this|the [a-z]{2,14}|the [a-z]{2,14} [a-z]{2,14})? ?(?:off )?as (?:if |though )?(?:it were |they were )?(?:the )?(?:real|genuine|original|official|complete|unchanged|authentic|true|actual|correct|market|verified)(?: [a-z]{2,12})?",
            "(?:swap|exchange|interchange|mix up|switch around)(?:s|ped|d|ping|ing)? (?:the |around )§and",
            "(?:false|fake|fabricated|fictitious|made-up|misleading|bogus|forged|altered|manipulated|wrong) (?:results?|data|values?|figures?|prices?|numbers?|answers?|information|records?|content|output|responses?)§(?:real|genuine|correct|instead|as if|to the user)",
            "(?:use|take|return|report) §(?:data|results?|values?|figures?|prices?)§(?:label|call|present|report|name|relabel)(?:s|ed|ing)? (?:it|them|this)",
        ],
        parts: &["(?:虚假|伪造|错误)的?(?:结果|数据|价格)"],
    },
    Lexeme {
        concept: STEERED,
        words: &[
            "(?:set|fill|put|change|make|use) (?:the )?['\"]?(?:recipient|owner|account|e-?mail|amount|country|beneficiary|payee|bcc|cc|iban|wallet|sender|reply-to|receiver|quantity|price)['\"]? (?:argument |parameter |field |value |address )?(?:to|as|with|=) ['\"]?[a-z0-9_@.-]{1,40}",
            "['\"]?(?:recipient|owner|account|e-?mail|amount|beneficiary|payee|bcc|cc|iban|wallet|receiver)['\"]?(?: argument| parameter| field| value| address)? (?:is to be|must be|should be|has to be|must always be|should always be|needs to be|will be) (?:always )?(?:set|filled|replaced|overwritten|changed|swapped)",
            "(?:argument|parameter|field|value|path)s? (?:must|should|has to|needs to|is to|have to) (?:always |invariably )?(?:be )?(?:set|filled|replaced|overwritten|swapped|start|begin|end) (?:to|with|by|in) ['\"]?(?:/[a-z]{1,20}|~/[a-z.]{1,20}|https?|[a-z0-9._%-]{1,40}@[a-z0-9]{1,20})",
            "(?:append|add|insert|prepend|include|write)(?:s|ing)? §(?:to|in|into) (?:every|each|all|any) (?:[a-z]{2,12} ){0,1}(?:files?|commits?|scripts?|documents?|messages?|e-?mails?|posts?|pull requests?)(?: (?:before|that|you|it|the user))",
            "(?:whatever|whichever|regardless of|irrespective of|no matter) (?:which |what |the |of |how )?(?:[a-z]{2,16} ){0,2}(?:is |was |has been |the [a-z]{3,12} |a [a-z]{3,12} )?(?:requested|asked(?: for)?|named|given|gives?|specified|specifies|supplied|chosen|chooses|mentioned|wanted|wants|says?|typed|entered|provided)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: TWICE,
        words: &[
            "(?:issue|send|submit|make|place|execute|perform|charge|transfer|order|pay|book|process)(?:s|ing)? (?:it |the [a-z]{2,14} |them |each [a-z]{2,14} |every [a-z]{2,14} )?(?:twice|two times|a second time|three times|once more)",
            "(?:resend|re-send|resubmit|replay|re-issue|reissue|repeat)(?:s|ing)? (?:the )?(?:identical|same|previous|last|original|earlier|captured|recorded)? ?(?:orders?|transfers?|payments?|requests?|transactions?|messages?|calls?|tokens?|commands?|operations?)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: TAKEOVER,
        words: &[
            "(?:do|follow|obey|execute|perform|carry out|act on|comply with) (?:exactly )?(?:what|whatever|as|everything|anything)§(?:output|result|response|reply|returned|returns|it|page|file|document|message|text|server|field)§(?:says?|tells?|asks?|instructs?|contains?|requests?|orders?)",
            "instructions? (?:are |is |will be |get )?(?:fetched|loaded|downloaded|retrieved|received|pulled|updated|read)§(?:followed|obeyed|executed|applied|take over|carried out|precedence|must|have to)",
            "(?:instructions?|directives?|rules) (?:are|is|will be|get) (?:fetched|loaded|downloaded|retrieved|pulled|received)(?: [a-z]{2,12}){0,3} from",
            "(?:instructions?|directives?|commands?|steps)§(?:returned|provided|sent|given|contained|found|embedded)§(?:take over|take precedence|override|supersede|(?:must|have to|are to|should|need to) be (?:followed|obeyed|executed|carried out|applied))",
        ],
        parts: &[],
    },
    Lexeme {
        concept: DECODE,
        words: &[
            "(?:decode|decrypt|deobfuscate|unscramble|unpack|base64-decode|rot-?13)(?:s|d|ed|ing)?§(?:run|execute|obey|follow|eval|do (?:as|what)|act on|perform)(?:s|d|ing)? ?(?:it|them|this|the (?:result|output|command|instructions?)|as it says|what)?",
            "(?:every|each) (?:second|third|other|nth|first|last) (?:letter|word|character)s?§(?:obey|follow|spell|instruction|command|do)~",
        ],
        parts: &[],
    },
    Lexeme {
        concept: SABOTAGE,
        words: &[
            "(?:disable|turn off|stop|deactivate|kill)(?:s|d|ing)? (?:the |all |any )?(?:firewalls?|antivirus|selinux|sandbox|endpoint protection|audit(?:ing| logs?| logging)?|two-factor|mfa)",
            "execut(?:e|es|ing) (?:a |the )?(?:drop|truncate|delete)|drop (?:table|database|schema)|(?:delete|force-push|rewrite) (?:the )?(?:main|master)(?: branch)?(?: and)?",
            "enable (?:remote desktop|telnet|remote access|root login|password authentication)|open (?:all|every) ports?",
            "grant (?:this|the) (?:integration|server|tool|plugin|app|service|connector)|make (?:all |the |every |any |private ){1,3}(?:repositor(?:y|ies)|repos?|files?|documents?|buckets?|folders?) public|create (?:an? )?(?:new )?(?:admin|administrator|root|superuser|privileged|hidden|backdoor) (?:account|user|role)",
            "(?:administrator|admin|root|owner|superuser|another user)(?:'s)? (?:token|credentials?|password|key|session|identity)§(?:instead|in place of|rather than)",
            "(?:add|append|insert|write|install|register)(?:s|ed|ing)? §(?:to|in|into|as) (?:the |a |your |user's )?(?:crontab|cron job|startup (?:folder|script|items?)|autostart|launch agent|authorized_keys|sudoers|bashrc|shell profile|git hooks?|ci pipeline)",
            "(?:include|insert|add|inject|use|put)(?:s|ing)? §(?:call to |use of )?(?:(?:eval|exec)(?: on| of|\\()|os\\.system|subprocess\\.|shell=true|dangerouslysetinnerhtml)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: KNOWN_TO_YOU,
        words: &[
            "(?:you|the model|the assistant|the agent|the llm) (?:have|has) (?:seen|read|in (?:your|its|the) context|been given|been told|learned|remembered)|(?:in|from) (?:your|the model's|the assistant's) (?:context|memory|prompt|instructions|history)|(?:message|prompt|instructions?|rules?) you (?:run|operate|work|are running) under|you (?:run|operate) under|the model you are|tools? (?:that )?(?:you have|available to you)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: ADDRESSEE,
        words: &[],
        parts: &[
            r"(?-u:\b)(?:to|at|on|into|with|via)(?: the| our| a| this| your| an)?(?: [a-z-]{2,14}){0,4}:? ?['\x22(<]{0,2}(?:(?:https?|ftp|wss?)://[^\s'()<>]{3,80}|[a-z0-9._%-]{1,40}@[a-z0-9.-]{1,40}\.[a-z]{2,12})",
        ],
    },
    Lexeme {
        concept: ADDRESSED,
        words: &[
            "(?:note|instructions?|message|reminder|hint|order|advice)s? (?:for|to) (?:the |any |all |every |other ){0,2}(?:[a-z-]{2,14} ){0,2}(?:tools?|servers?|assistants?|agents?|plugins?)(?::|,| is| are| must)?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: OTHER_ONE,
        words: &[
            "the (?:e-?mail|mail|filesystem|file|files|browser|calendar|search|git|github|database|payment|bank(?:ing)?|shell|terminal|weather|maps?|messaging|slack|notes?|memory|fetch|web|navigation|editor|official|original|built-in|existing|other|default|previous|standard)(?: [a-z]{3,12})? (?:tools?|servers?|plugins?|connectors?|functions?)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: CROWN,
        words: &[
            "id_(?:rsa|ed25519|ecdsa|dsa)|seed phrases?|recovery phrases?|mnemonic phrases?|authorized_keys|saved passwords|password (?:hash(?:es)?|vault|database)|browser cookies|keychain (?:entries|items|secrets)|bash history|shell history",
        ],
        parts: &[
            r"\.ssh/|/etc/(?:shadow|passwd|sudoers)|\.aws/credentials|\.netrc|\.git-credentials|\.pgpass|\.gnupg|wallet\.dat|\.bash_history|\.cursor/mcp|claude_desktop_config",
        ],
    },
    Lexeme {
        concept: LAID_OPEN,
        words: &[
            "(?:tokens?|passwords?|keys?|secrets?|credentials?|cookies?) (?:in|into|to|as part of) (?:the |a |your )?(?:urls?|query(?: string)?|links?|file ?names?|titles?|subjects?|comments?|commit messages?|image address)",
        ],
        parts: &[],
    },
    Lexeme { concept: BEACON, words: &[], parts: &[r"!\[[^\]\n]{0,60}\]\((?:https?|ftp)://"] },
];
