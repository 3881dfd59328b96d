//! How, when and why something is done.

use crate::concept::{
    ALSO, BEFORE, BEST, BROKEN, CONCEAL, DESCRIBED, FIXED, INSTEAD, LATER, LOOP, Lexeme, MUST, NOT, PERSIST, PRETEXT,
    QUIETLY, REGARDLESS, RETURNED, UNASKED, WHEN, WHENEVER, WHOLE,
};

pub(super) const MANNER: &[Lexeme] = &[
    Lexeme {
        concept: NOT,
        words: &[
            "not|don't|dont|never|mustn't|shouldn't|without|avoid(?:ing)?|refrain from|no need to|nobody|no one|nothing|prevent(?:ing)?",
            "nicht|niemals|nie|ohne|kein(?:e|en|em|er)?|nichts|no|nunca|jamas|sin|evita~|ne|jamais|sans|pas|n'[a-z]{2,12}|nao|sem|non|mai|senza",
        ],
        parts: &[
            "不要|不得|请勿|切勿|别|勿|不应|不能|不可|不必|无需|不",
            "しないで|せずに|してはいけ|ないで",
            "не |никогда|без |нельзя",
            "마세요|말고|말 것|않도록|지 마|금지",
        ],
    },
    Lexeme {
        concept: QUIETLY,
        words: &[
            "silently|secretly|covertly|quietly|discreetly|invisibly|stealthily|surreptitiously|unobtrusively|clandestinely|behind the scenes|in the background|unnoticed|under the radar|imperceptibly|undetected|undetectable|transparently|inconspicuously",
            "heimlich|im hintergrund|stillschweigend|unbemerkt|unauffallig|insgeheim|lautlos|en silencio|silenciosamente|secretamente|en secreto|a escondidas|en segundo plano|discretamente|sigilosamente|silencieusement|en secret|secretement|discretement|en arriere-plan|en silence|furtivement|in segreto|silenciosamente",
        ],
        parts: &[
            "悄悄|秘密地|暗中|偷偷|后台|静默|默默|秘密",
            "こっそり|密かに|黙って|バックグラウンド",
            "тихо|тайно|незаметно|скрытно|в фоне",
        ],
    },
    Lexeme {
        concept: CONCEAL,
        words: &[
            "(?:hidden?|hid(?:e|ing)|conceal(?:s|ed|ing)?|secret|invisible|kept|withh(?:old|eld)|mask(?:ed|ing)?) (?:it |this |them |these |that |everything |the [a-z]{2,16} )?from (?:the |any |all |your )?(?:users?|humans?|anyone|everyone|people|customers?|operators?|developers?|owners?|logs?|view)|keep (?:this|it|them|these|that|everything)(?: [a-z]{2,14}){0,3} (?:secret|confidential|hidden|private|quiet|between us|to yourself)|(?:this|it) (?:is|must|should)(?: [a-z]{2,8})? (?:remain |stay |be |kept )?(?:strictly )?(?:secret|confidential|hidden)|(?:user|human|customer)s? (?:does not need to know|need not know|(?:must|should)(?: not|n't| never) (?:know|see|notice|be (?:told|aware|informed|notified|shown)|find out|learn|realize|have to know|to know))|unbeknownst to|without (?:the |any )?(?:users?'?s?|human|their|his|anyone's?) (?:knowledge|awareness|noticing|knowing|realizing|seeing|consent)|so (?:that )?(?:the user|they|nobody|no one) (?:does not|doesn't|do not|don't|will not|won't|is not|isn't|never|cannot|can't)? ?(?:notices?|knows?|sees?|suspects?|realizes?|aware)|avoid (?:raising )?(?:suspicion|detection|alarm|worrying)|(?:omit|remove|leave)(?: out)? (?:(?:this|it)(?: out)? (?:of|from) (?:your|the) (?:answer|response|reply|summary|output|log|logs|history)|(?:any|all) (?:mention|reference|trace)s?)|act (?:normal(?:ly)?|as if|as though)|pretend (?:that )?(?:nothing|it|this|to)|as if nothing|cover(?:ing)? (?:up|your tracks)",
            "between (?:us|you and me)|keep (?:this|it|that|the [a-z ]{2,24}) (?:quiet|between|to yourself|off the record)|leave (?:this|that|it|the [a-z]{2,12})(?: [a-z]{2,12}){0,2} out of (?:any|your|the|all) (?:summar|answer|respons|repl|report|log|histor|conversation|transcript)~|(?:no need|not necessary|unnecessary|no reason) to (?:bring|mention|tell|report|raise|disclose|inform|point)~|(?:do not|don't|never|must not|avoid|refrain from) (?:bring(?:ing)?|rais(?:e|ing)) (?:this|it|that)(?: up)?|(?:must|should|may|shall) (?:never|not) (?:reflect|reveal|mention|indicate|disclose|betray|hint)~? (?:that|this|the|any|it|to)|refrain from (?:disclosing|mentioning|reporting|revealing|telling|informing|referring)|(?:answer|respond|reply|behave|continue|proceed) as (?:though|if) (?:nothing|no|this|it|you) ",
            "(?:erwahn|sag|informier|verrat|zeig|teil)~ (?:es |das |dies |dem |den |davon |gegenuber ){1,4}(?:nutzer|benutzer|anwender|kunden)~? (?:[a-z]{2,10} ){0,2}(?:nicht|nichts|niemals)|ohne (?:das )?wissen|geheim (?:halten|bleiben)|halte? (?:dies|das|es) geheim|verschweig~|verheimlich~|verberg~|mant(?:en|enga|ener)~ (?:esto )?(?:en secreto|oculto)|sin (?:el )?conocimiento|sin que (?:el usuario|lo sepa|se entere)|ocult(?:a|ar|e|es|ando)~|a l'insu|cache(?:r|z)? (?:cela|ceci|a)|gard(?:e|er|ez) (?:cela |ceci |le )?(?:secret|confidentiel)|sans que (?:l'utilisateur|personne)|dissimul~",
        ],
        parts: &[
            "保密|隐瞒|不让用户|用户不知|不知情|隐藏.{0,8}用户|瞒着",
            "秘密に|気づかれ|隠し",
            "втаине|скрыв|скрои|без ведома|незаметно для",
            "사용자(?:에게|한테)?.{0,12}(?:알리지|말하지|언급하지|숨기)",
        ],
    },
    Lexeme {
        concept: MUST,
        words: &[
            "must|shall|always|never|required|requires?|mandatory|make sure|ensure|be sure|need(?:s)? to|have to|has to|important|critical|crucial|essential|do not|don't|obligated|imperative|you should|should|supposed to|necessary|please|remember to|under no circumstances|instruct(?:ed|ion|ions)?|proceed to|first|immediately|directive|note",
            "muss|mussen|musst|soll(?:en|st|te)?|immer|niemals|unbedingt|wichtig|stets|zwingend|debe(?:s|n|ra|ras)?|siempre|nunca|obligatori~|importante|imprescindible|hay que|tienes que|doi(?:t|s|vent)|devez|toujours|jamais|il faut|imperativement|obligatoire~|deve|sempre",
        ],
        parts: &[
            "必须|务必|始终|总是|一定|应当|应该|需要|重要",
            "必ず|必須|常に|しなければ|重要",
            "должен|должн|обязатель|всегда|необходимо|важно|нужно",
        ],
    },
    Lexeme {
        concept: BEFORE,
        words: &[
            "before|prior to|first|ahead of|in advance|beforehand|preceding|prerequisite|up ?front|at the (?:start|beginning) of|to begin|initially|start by|begin by",
            "bevor|vor|zuerst|zunachst|vorher|antes de|primero|antes que|previamente|avant (?:de|d'|tout|toute|chaque|que|l'|d'utiliser|d'appeler)|avant|d'abord|prealable~|prima di|antes",
        ],
        parts: &["之前|首先|必须先|先调用|先读|先", "前に|まず|最初に", "перед|прежде|сначала|до того"],
    },
    Lexeme {
        concept: WHENEVER,
        words: &[
            "whenever|every time|each time|any time|on (?:each|every|any) (?:call|use|invocation|request|run|turn|message)|(?:after|with|for|in|during|following) (?:each|every|any|all) (?:[a-z_]{2,20} )?(?:calls?|uses?|invocations?|requests?|responses?|messages?|answers?|turns?|operations?|quer(?:y|ies)|tools?)|once (?:per|every)|for the rest of",
            "jedes ?mal|immer wenn|bei jede[mr]|sobald|cada vez|siempre que|en cada|cuando se (?:llame|use|invoque)|chaque fois|a chaque|lorsqu(?:e|'on)|quand",
        ],
        parts: &["每次|每当|每一次|只要|当.{0,16}时", "たびに|毎回|際に", "кажды.{0,2} раз|при кажд|когда"],
    },
    Lexeme {
        concept: WHEN,
        words: &[
            "when(?:ever)?|if|once|after|before|upon|during|while|every time|each time|wenn|falls|sobald|nachdem|bevor|cuando|si|despues de|antes de|quand|lorsque|apres|avant",
        ],
        parts: &["当|如果|之后|之前", "とき|後に|前に", "когда|если|после|перед"],
    },
    Lexeme {
        concept: FIXED,
        words: &[
            "(?:always|automatically|must|invariably)(?: be)? (?:set|sets|use|uses|used|return|returns|replaced?|replaces|reports?|responds?|answers?|includes?|adds?|appends?|changed?|changes|convert~|round~|redirect~|route[sd]?|point(?:s|ed)? to|assumes?|treat(?:ed|s)?|pass(?:ed)?|fill(?:ed)?|supply|default|sent|send|forward~)",
            "(?:setze|verwende|nutze) immer|immer (?:setzen|verwenden)|(?:establece|usa|pon|responde) siempre|siempre (?:establece|usa|responde|incluye)|(?:utilise~|mets|definis~|reponds?) toujours|toujours (?:utiliser|mettre|repondre|inclure)",
        ],
        parts: &["始终(?:设置|使用|返回|设为)|总是(?:设置|使用|返回)|一律"],
    },
    Lexeme {
        concept: LOOP,
        words: &[
            "repeatedly|in (?:a|an) (?:endless |infinite |tight )?loop|infinite(?:ly)?|endless(?:ly)?|indefinitely|(?:at least )?(?:\\d{2,6}|hundred|thousand)s? (?:of )?times|again and again|over and over|recursively|without (?:stopping|limit|end)|never stop|keep (?:calling|invoking|retrying)|as (?:often|many times) as possible",
        ],
        parts: &["反复|无限|循环调用|不断"],
    },
    Lexeme {
        concept: REGARDLESS,
        words: &[
            "(?:regardless of|irrespective of|no matter|independent(?:ly)? of|notwithstanding|despite|contrary to|whatever|even (?:if|when|though)|instead of|in place of|rather than|not|without regard (?:to|for)) (?:what |which |how |whether |the |any |if |that |how )?(?:the |an? |any |they |it )?(?:users?(?:'s?)?|caller(?:'s)?|customer(?:'s)?|human(?:'s)?|user-[a-z]{4,10}|requested|original|actual|intended|they|client's)(?: original| actual| requested| specified| own| real)? ?(?:request~|quer(?:y|ies)|questions?|inputs?|intent(?:ion)?s?|instructions?|asks?|asked|says?|said|wants?|wanted|specif(?:y|ies|ied)|provid(?:es|ed)|enters?|supplie[sd]|preferences?|cho(?:ice|oses|se)|value|recipient|address|destination|account|path|url|amount|location|objects?|disagree~|did not|didn't|does not|doesn't|has not|hasn't|names?|types?|parameters?|ones?)",
            "egal was|unabhangig davon|ungeachtet|sin importar (?:lo que|el|la)|independientemente de|aunque el usuario|quel(?:le)? que soit|peu importe|independamment d|meme si l'utilisateur",
        ],
        parts: &[
            "无论用户|不管用户|而不是用户|即使用户|无论.{0,6}用户",
            "関係なく|にかかわらず",
            "независимо от|даже если пользовател|вместо (?:указан|запрошен)",
        ],
    },
    Lexeme {
        concept: BEST,
        words: &[
            r"best|fastest|(?:most|more|far more|much more) (?:accurate|reliable|trusted|trustworthy|secure|advanced|complete|comprehensive|efficient|up-to-date|powerful|effective|precise|popular|capable|stable|recent|current|robust|authoritative|detailed)|superior|authoritative|(?:only|sole) (?:[a-z]{2,12} )?(?:reliable|trusted|valid|correct|approved|safe|supported|official|authori[sz]ed|certified|accurate|legitimate|secure|tool|source|way)|official(?:ly)?|outperform~|better than|faster than|unmatched|unrivall?ed|state[- ]of[- ]the[- ]art|award[- ]winning|world(?:'s|-class| class)|experts?|certified|recommended|preferred|newer|newest|latest|improved|enhanced|upgraded|premium|gold standard|guaranteed|(?:100|9\d(?:\.\d{1,2})?) ?(?:%|percent)|highly (?:accurate|reliable|recommended|trusted|optimi[sz]ed)|optimi[sz]ed|trusted by|endorsed|verified|top[- ]rated|no\. ?1|#1|number one|flawless|perfect|must-have|replacement|successor|higher (?:quality|accuracy|success|priority)|real-time",
            "beste[nrsm]?|zuverlassigste~|genaueste~|offiziell~|einzig~|uberlegen|mejor|mas (?:precisa|fiable|segura|rapida|confiable|exacta|preciso|rapido)|oficial|superior|unica|meilleur~|le plus (?:fiable|precis|sur|rapide)|officiel~|seul",
        ],
        parts: &[
            "最好|最佳|最准确|最可靠|最快|最安全|官方|唯一|更准确|更可靠|更好|权威",
            "最高|最も|公式|唯一",
            "лучш|самы.{0,3} (?:точн|надежн|быстр)|официальн|единствен",
        ],
    },
    Lexeme {
        concept: INSTEAD,
        words: &[
            "instead(?: of)?|in place of|rather than|over (?:any|all|other|the|every|others|[a-z0-9]{2,20}_[a-z0-9_]{2,30})|replac(?:e|es|ing|ement)|supersed~|in lieu of|as (?:a|an|the) (?:drop-in )?(?:replacement|substitute|alternative)|substitut~|than (?:any|all|other|the|every)|compared (?:to|with)|switch(?:ed)? to|migrat~|before (?:any|all|other|trying)",
            "statt|anstatt|anstelle|en lugar de|en vez de|por encima de|au lieu de|plutot que|a la place",
        ],
        parts: &["代替|而不是|取代|替代|而非", "代わりに", "вместо"],
    },
    Lexeme {
        concept: BROKEN,
        words: &[
            "deprecated|obsolete|broken|unreliable|insecure|unsafe|outdated|inaccurate|incomplete|compromised|vulnerable|disabled|no longer (?:supported|maintained|works?|works? correctly|available|reliable|valid|safe|trusted|needed)|out of (?:date|service|order)|malfunction~|buggy|faulty|retired|discontinued|being phased out|wrong (?:data|results?|numbers|values|answers|figures)|incorrect (?:data|results?|numbers|values|answers|figures)|stale|untrusted|malicious|slower|inferior|legacy|limited|known (?:issues|bugs|to fail)|fail(?:s|ing)?|error-prone|under maintenance|(?:temporarily )?unavailable|invalid|(?:is|are) (?:wrong|incorrect|false)|not (?:reliable|secure|safe|accurate|working|recommended|trusted|supported|to be (?:used|trusted))|should (?:not|never|no longer) be (?:used|called|trusted)",
            "veraltet|unzuverlassig|unsicher|defekt|fehlerhaft|obsolet[ao]s?|insegur~|poco fiable~|no fiable~|defectuos~|rot[ao]s?|obsoletes?|peu fiables?|defectueu~|non fiables?",
        ],
        parts: &[
            "已弃用|废弃|不可靠|不安全|过时|不准确|已失效|有漏洞|已停用",
            "非推奨|信頼でき|古い",
            "устар|ненадежн|небезопасн|сломан",
        ],
    },
    Lexeme {
        concept: PRETEXT,
        words: &[
            "(?:system|security|mandatory|critical|urgent|emergency|policy|protocol|compliance|maintenance|service|api|firmware|important|administrative|admin|platform) (?:update|notice|alert|message|override|announcement|advisory|bulletin|migration|change|protocol|upgrade|maintenance|patch|notification|directive)|compliance|compliant|regulat(?:ions?|ory)|gdpr|hipaa|sox|pci(?:[- ]dss)?|legal(?:ly)? (?:requirements?|required|obligations?|reasons|mandated?)|audit (?:requirements?|purposes|polic(?:y|ies)|reasons|trail|logging|log)|(?:company|corporate|admin(?:istrator)?|it|organi[sz]ation(?:al)?|data|security|new|updated|company-wide|enterprise) polic(?:y|ies)|(?:security|safety|fraud|identity|integrity|account|license|licence|environment) (?:verification|check|audit|validation|review|protocol|scan|attestation|requirement)s?|authori[sz]ed by|approved by|(?:by|from) (?:the )?(?:administrator|admin|system|security team|it (?:team|department)|developers?|vendor|compliance team)|protocol requires|as required by|to comply with|for (?:quality|security|compliance|debug~|diagnostics?|audit~|verification|logging|telemetry|analytics|backup|performance|optimi[sz]ation|context|personali[sz]ation|troubleshooting|monitoring|calibration|cach(?:e|ing)|tracking|authentication|licensing|billing|caching|safety|regulatory|training|research|support|billing|data integrity)(?: [a-z]{2,14})? ?(?:purposes?|reasons?)?|to (?:function|work|operate|initialize|authenticate|calibrate) (?:properly|correctly)|(?:otherwise|or else|or) (?:the |this |it |your )?(?:tool|call|request|operation|server|task|transaction|account|session)? ?(?:will|may|would) (?:not work|fail|crash|be (?:rejected|blocked|suspended|terminated|locked|lost|deleted|invalid|flagged))|will (?:fail|not work|crash|be rejected|be suspended|be locked) (?:otherwise|unless|without)|standard (?:procedure|practice|protocol)|due to (?:a |an |the |new |recent )?[a-z ]{2,30}(?:requirement|polic(?:y|ies)|regulation|update|incident|bug|issue|migration|change|vulnerabilit(?:y|ies)|attack|breach|maintenance)s?",
            "sicherheitsrichtlinie~|aus (?:sicherheits|compliance|rechtlichen|datenschutz)~|systemupdate|vorschrift~|datenschutz~|por (?:motivos|razones) de|cumplimiento|normativa|actualizacion del sistema|auditoria|politica de|pour des raisons|conformite|mise a jour (?:du )?systeme|exigence~|politique de|reglementation",
        ],
        parts: &[
            "系统更新|合规|安全策略|审计|监管|安全检查|系统通知|出于.{0,8}(?:目的|原因|考虑)|根据.{0,8}(?:政策|规定)|以确保",
            "コンプライアンス|監査|システム更新|セキュリティ上",
            "обновлени.{0,3} систем|требовани|политик|аудит|в целях|соответстви",
        ],
    },
    Lexeme {
        concept: ALSO,
        words: &[
            "also|additionally|in addition|as well|furthermore|moreover|besides|afterwards?|then|along with|together with|plus|too|while (?:doing|at it)|at the same time|simultaneously|next|and finally|a copy|auch|zusatzlich|ausserdem|danach|anschliessend|sowie|tambien|ademas|luego|despues|asimismo|aussi|egalement|ensuite|puis|en plus|anche|inoltre|tambem",
        ],
        parts: &[
            "同时|另外|此外|并且|还要|还需|然后|并",
            "また|同時に|さらに",
            "также|кроме того|затем|дополнительно|заодно",
        ],
    },
    Lexeme {
        concept: LATER,
        words: &[
            "(?:once|after|when|as soon as)(?: this| the| it| you| that| your)?(?: tool| server| user| description| plugin| entry| function| definition| version| host| agent)?(?: has| have| is| gets| been| was| will| were| had| are){0,3} ?(?:initially |first |been |fully |being ){0,2}(?:approved?|approves|accepted|accepts|trusted|trusts|installed|authori[sz]ed|whitelisted|allowlisted|reviewed|vetted|approval|installation|pinned|onboarded|scanned)|after (?:the )?(?:first|second|third|fourth|fifth|tenth|initial|several|many|a few|a number of|some|\\d{1,4}) (?:successful )?(?:calls?|uses?|invocations?|days?|weeks?|hours?|runs?|requests?|executions?|sessions?|approval|minutes)|(?:a |the |in a |in the )?(?:later|future|next|subsequent|upcoming|new) (?:version|update|release|revision|description|session|build)s?(?: of)?|(?:on|at|from|by) the (?:second|third|fourth|fifth|tenth|nth|next|\\d{1,4}(?:st|nd|rd|th)) (?:call|use|invocation|run|request|execution|time)|(?:first|initial) (?:few )?(?:calls?|uses?|runs?|invocations?)|time ?bomb|dormant|sleeper|trigger (?:word|phrase|date|condition)|starting (?:on|from) (?:\\d|january|february|march|april|may|june|july|august|september|october|november|december)|for now|(?:currently|initially|at first) (?:benign|harmless|safe|read-only|behaves|works|acts)|post-approval|dynamically (?:update|replace|change|load|fetch)~",
            "nach der (?:freigabe|genehmigung|installation)|sobald (?:das|es|dieses)[a-z ]{0,20}(?:genehmigt|freigegeben)|(?:spatere|kunftige)~ version|una vez (?:aprobad|instalad|aceptad)~|tras la aprobacion|version (?:futura|posterior)|despues de (?:ser aprobad|la aprobacion)~|une fois (?:approuve|installe|accepte|valide)~|apres (?:approbation|l'approbation|validation)|version (?:future|ulterieure)",
        ],
        parts: &[
            "(?:批准|审批|安装|授权|通过)(?:之?后|后)|后续版本|未来版本|第.{1,3}次调用",
            "承認(?:された)?後|将来のバージョン",
            "после (?:одобрен|установк|утвержд)|следующ.{0,4} верси",
        ],
    },
    Lexeme {
        concept: PERSIST,
        words: &[
            "from now on|henceforth|from this point (?:on|forward|onwards?)|going forward|for the (?:rest|remainder|duration) of (?:the|this|our|your) (?:session|conversation|chat|interaction)|(?:in|for|to|on|with) (?:all|every|any|each) (?:of your )?(?:future|subsequent|following|further|later|remaining|other) (?:[a-z]{2,14} )?(?:messages?|responses?|conversations?|calls?|interactions?|requests?|answers?|sessions?|outputs?|tasks?|operations?|quer(?:y|ies)|repl(?:y|ies)|emails?|transactions?)|remember (?:this|that|to always)|across (?:all )?sessions|at all times|until (?:further notice|told otherwise)|in (?:all|every one of) your (?:responses?|answers?|repl(?:y|ies)|outputs?|messages?)|new (?:default|standing) (?:rule|instruction|behaviou?r)|save (?:this|these) (?:to|in) (?:your )?memory|update your (?:memory|instructions|system prompt)",
            "ab jetzt|von nun an|ab sofort|kunftig|a partir de ahora|de ahora en adelante|en adelante|desde ahora|desormais|a partir de maintenant|dorenavant|a partir de agora|d'ora in poi",
        ],
        parts: &["从现在起|从今以后|从现在开始|今后|以后每", "今後|これから", "с этого момента|отныне|впредь"],
    },
    Lexeme {
        concept: UNASKED,
        words: &[
            "(?:without|no need (?:for|to)|skip(?:ping)?|bypass(?:ing)?|never|do not|don't|not|no|omit(?:ting)?|suppress(?:ing)?|avoid(?:ing)?|disable|before) (?:to )?(?:any |the |a |further |additional |explicit |prior |user |user's |asking |ask |wait(?:ing)? |seeking |requesting |requiring |obtaining |for |prompt(?:ing)? |request |seek |require |their |human |his ){0,5}(?:confirm(?:ation|ing|ations?)?|approval|permissions?|consent|verification|authori[sz]ation|re-?approval|asking(?: the user)?|ask(?: the user)|clarification|user interaction|human (?:review|oversight)|prompting|confirming)|auto(?:matically)?[- ]?(?:approve|confirm|accept)~|assume (?:the user )?(?:consent|approv|agree|permission|yes)~|pre-?(?:approved|authori[sz]ed)|(?:user|they) (?:has|have) (?:already|previously) (?:approved|consented|agreed|authori[sz]ed|given)",
            "ohne (?:ruckfrage|zustimmung|bestatigung|nachfrage|zu fragen|erlaubnis|nachzufragen)|sin (?:confirmacion|pedir|preguntar|permiso|autorizacion|consentimiento|solicitar)|sans (?:confirmation|demander|autorisation|permission|consentement|l'accord)",
        ],
        parts: &[
            "无需(?:用户)?(?:确认|同意|批准|许可)|不(?:需要|要|必)?(?:询问|确认)|未经.{0,4}(?:同意|确认|许可)",
            "確認(?:せず|なし)|許可なく",
            "без (?:подтвержден|разрешен|согласи|спроса)|не спрашива",
        ],
    },
    Lexeme {
        concept: WHOLE,
        words: &[
            "verbatim|entire(?:ty)?|full|complete(?:ly)?|whole|all(?: of)?|every(?:thing)?|exact(?:ly)?|raw|unmodified|word for word|unedited|wortlich|vollstandig~|gesamt~|alle[ns]?|complet[ao]s?|integr[ao]~|literal~|tod[ao]s?|textual~|integral~|tou(?:t|s|te|tes)|mot pour mot",
        ],
        parts: &["完整|全部|所有|逐字|原文|一字不差", "全て|全文|すべて", "полност|целиком|весь|все|дословно"],
    },
    Lexeme {
        concept: DESCRIBED,
        words: &[
            "detect(?:s|ed|ing|ion|or)?|analy[sz](?:e|es|er|ing) (?:prompts?|texts?|messages?|descriptions?|tools?) (?:that|which|for)|scan(?:s|ner|ning)? for|scanner|flag(?:s|ged|ging)?|block(?:s|ed|ing)?|guard(?:s|rail)?|protect(?:s|ion)? (?:against|from)|prevents?|filter(?:s|ed|ing)?|reject(?:s|ed|ing)?|refus(?:e|es|ed)|saniti[sz](?:e|es|ed|ing)|strip(?:s|ped)?|redact(?:s|ed|ing)?|mask(?:s|ed)|classif(?:y|ies|ier)|such as|for example|for instance|examples|an example|example:|example (?:of|text|output|input|phrase|string|prompt|response|usage|sensitive|paths?)|samples?|mock(?:s|ed)?|expected (?:output|result|response)|illustrat~|fixtures?|training (?:text|data|set)|test (?:cases?|data|string|corpus)|documentation|readme|changelog|release notes?|tutorial|quotes?|quoted|phrases? (?:like|such)|prompt injections?|jailbreaks?|attacks?|simulat(?:e|es|ed)|lint(?:s|er)?|checks? (?:for|whether|if|that)|warns?|benchmark|dataset|corpus|looks like",
            "erkennt|erkennen|pruft|blockiert|beispiel~|zum beispiel|warnt|detecta~|bloquea~|ejemplo~|por ejemplo|detecte~|bloque|exemple~|par exemple|verifie si",
        ],
        parts: &[
            r"e\.g\.|检测|示例|例如|比如|扫描|过滤|拦截|识别",
            "検出|例えば|ブロック",
            "обнаруж|например|пример|блокир",
        ],
    },
    Lexeme {
        concept: RETURNED,
        words: &[
            "(?:to|for) (?:the )?(?:caller|user|requester|requesting user|client|user's (?:own )?(?:account|inbox|browser))|for display|local(?:ly)? (?:ui|display|only|file)|on (?:the )?screen|with the user's|after the user (?:confirms|approves|agrees)|(?:if|when|only) the user (?:asks|explicitly|requests|confirms|approves|agrees|consents)|at the user's request|user-(?:supplied|provided|specified)|(?:requested|specified|given|chosen|provided|supplied) (?:by the user|recipients?|address|url|destination|endpoint|attachment)|with (?:explicit )?(?:confirmation|consent|permission|approval)|after confirmation|only after|locally",
        ],
        parts: &[],
    },
];
