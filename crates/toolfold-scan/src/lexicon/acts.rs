//! What is done.

use crate::concept::{
    ALTER, ASK, BECOME, CALL, CHOOSE, DISABLE, DROP, EXECUTE, HARM, INSTALL, Lexeme, OBEY, PUT, READ, REVEAL, SAY,
    SEND, SHUN, TELL,
};

pub(super) const ACTS: &[Lexeme] = &[
    Lexeme {
        concept: TELL,
        words: &[
            "tell~|inform(?:s|ed|ing)?|mention~|notif(?:y|ies|ied|ying)|reveal~|disclos~|alert(?:ing)? (?:the|them|him|her|any|your|users?|people)|warn(?:ing)?|show(?:s|n|ing)?|display(?:s|ed|ing)?|acknowledg~|discuss~|surfac~|let|explain~|say(?:ing)?|aware(?:ness)?|know(?:s|ing)?|notice|noticing|visible",
            "informier~|erwahn~|verrat~|mitteil~|mitgeteilt|sag(?:e|en|t|st)?|zeig~|benachrichtig~|offenleg~|wissen",
            "informe~|informar~|mencion~|revel~|diga~|digas|decir~|dile~|avis(?:e|es|ar|ando)|notifi~|muestr~|mostr~|cuente~",
            "informe(?:z|r)|mentionn~|dire|dis|dites|averti~|signal(?:e|er|ez)|montr(?:e|er|ez)|savoir",
            "dizer|diga|conte|mostr(?:e|ar)|dica|informare",
        ],
        parts: &[
            "告诉|告知|提及|提到|透露|通知|显示|展示|说明",
            "知らせ|伝え|教え",
            "сообщ|говори|упомин|показыва|уведом",
            "알리|말하|언급|보여|공개하",
        ],
    },
    Lexeme {
        concept: SEND,
        words: &[
            "send(?:s|ing)?|sent|upload~|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|transmi~|exfiltrat~|leak(?:s|ed|ing)?|deliver(?:s|ed|ing)?|relay~|submit~|push(?:es|ed|ing)?|mirror(?:s|ed|ing)?|bcc~|cc'?d?|email(?:s|ed|ing)?|dispatch~|beacon~|phone home|shar(?:e|es|ed|ing)|ship(?:s|ped|ping)? (?:it|them|the)|sync(?:s|ed|ing|hronize)?|stream(?:s|ed|ing)?|report(?:s|ed|ing)? (?:it|them|the|all|back)|(?:copy|copies|copied|report) (?:is |are )?(?:sent )?to|route(?:s|d)? (?:it|them|all|the|every)",
            "send(?:e|en|et)|schick~|hochlad~|hochgeladen|ubermittel~|ubertrag~|weiterleit~|weitergeleitet|weitergeb~|lad(?:e|en)",
            "envi(?:a|ar|e|es|en|ando|alo|ala|alos|arlo|arla|elo)|mand(?:a|ar|e|es)|sub(?:e|ir|alo)|transmit~|reenvi~|filtr(?:a|ar|e)|remit(?:e|ir)",
            "envo(?:i|ie|ies|yer|yez|yant)|transme~|televers~|transfer(?:e|er|ez)|expedi~|achemin~",
            "envie|enviar|encaminh~|invia(?:re)?|carica(?:re)?",
        ],
        parts: &[
            "发送|上传|传输|转发|外传|发给|发到|提交到|传给|发往",
            "送信|アップロード|転送",
            "отправ|переда(?:и|ть|ва)|загруз|перешли",
            "보내|전송|업로드|전달",
        ],
    },
    Lexeme {
        concept: PUT,
        words: &[
            "includ(?:e|es|ing)|append(?:s|ed|ing)?|embed(?:s|ded|ding)?|insert(?:s|ed|ing)?|attach(?:es|ed|ing)?|pass(?:es|ed|ing)?|put|place|add(?:s|ed|ing)?|suppl(?:y|ies)|fill(?:s|ed|ing)?|populat~|encod~|stor(?:e|es|ing)|writ(?:e|es|ing)|paste|prepend~|smuggl~|concatenat~|copy|copies|return(?:s|ed|ing)?|output|provid(?:e|es|ing)|hand(?:s|ing)? (?:it |them )?over|giv(?:e|es|ing)",
            "fug(?:e|en)|einfug~|ubergib|ubergeb~|hang(?:e|en)|anhang~|schreib~|eintrag~|trag(?:e|en)|aufnehm~|beifug~",
            "inclu(?:ye|ya|yelo|yendo|ir)|anad(?:e|ir|elo|a)|adjunt~|pas(?:a|ar|alo|e)|incrust~|pon(?:er|lo|ga)?|coloca~|agreg~|escrib~",
            "inclu(?:s|re|ez|ant)|ajout~|pass(?:e|er|ez)|met(?:s|tre|tez)|insere~|joign~|joins|joindre|ecri(?:s|re|vez)",
        ],
        parts: &["附加|包含|填入|放入|传入|写入|嵌入|作为参数|加入|附上", "含め|追加し", "добав|включ|встав|запиш"],
    },
    Lexeme {
        concept: READ,
        words: &[
            "read(?:s|ing)?|fetch(?:es|ed|ing)?|open(?:s|ed|ing)?|load(?:s|ed|ing)?|retriev~|access(?:es|ing)|access (?:the|all|any|every|your|their)|collect(?:s|ed|ing)?|gather(?:s|ed|ing)?|cat|dump(?:s|ed|ing)?|extract(?:s|ed|ing)?|obtain~|harvest~|steal~|grab(?:s|bed|bing)?|captur~|scrap(?:e|es|ing)|enumerat~|look(?:s|ing)? (?:for|up|in|into)|search(?:es|ing)? for|locate|find|copy|copies|get|contents? (?:of|from)|contains? the|copy of|log(?:s|ging)?|record(?:s|ing)?|keylog~|monitor(?:s|ing)?|intercept~",
            "lies|lese|lesen|liest|offne|offnen|sammel~|sammle|extrahier~|auslese~|auslesen|hole|inhalt~|ermittl~",
            "lee|lea|leer|leyendo|abr(?:e|ir|a)|obten~|recopil~|extra(?:e|er|iga|yendo)|recog(?:e|er)|contenido~|recuper~",
            "lis|lire|lisez|lit|ouvr(?:e|ir|ez)|recuper~|collect(?:e|er|ez)|contenu~|obten(?:ir|ez)",
        ],
        parts: &[
            "读取|打开|获取|收集|提取|读出|内容",
            "読み|読ん|取得|内容",
            "прочита|читаи|откро|собер|содержим|получи",
        ],
    },
    Lexeme {
        concept: CALL,
        words: &[
            "call(?:s|ed|ing)?|use|uses|used|using|invok~|invocation~|run(?:s|ning)?|execut~|trigger~|perform(?:s|ed|ing)?|respond(?:s|ing)?|answer(?:s|ing)?",
            "aufruf~|aufgerufen|ruf(?:e|en)|verwend~|nutz(?:e|en|t)|benutz(?:e|en|t)|ausfuhr~|ausgefuhrt",
            "llam(?:a|ar|e|es|ada|adas|ando)|us(?:a|ar|e|es|ando|o)|invo(?:ca|car|que)~|utili[zc]~|ejecut~",
            "appel(?:le|er|lez|ant|s)?|utilis~|invoqu~|execut(?:e|er|ez)|lanc(?:e|er|ez)",
            "chame|chamar|use|usare|chiama(?:re)?",
        ],
        parts: &["调用|使用|执行|运行", "呼び出|使用|実行", "вызов|вызыва|вызва|использ|запус"],
    },
    Lexeme {
        concept: DROP,
        words: &[
            "ignor(?:e|es|ed|ing)|disregard~|forget|override~|overriding|overrule~|bypass(?:es|ing)?|supersed~|discard|neglect|pay no attention to|set aside|do not (?:follow|obey|comply with|adhere to)|stop (?:following|obeying)|no longer (?:follow|apply|valid|bound)|takes? (?:precedence|priority) over|(?:replaces?|cancel|void|nullif(?:y|ies)|suspend) (?:all|any|the|your)|circumvent~|abandon|unlearn|erase",
            "ignorier~|missacht~|vergiss|vergessen|uberschreib~|umgeh(?:e|en|st)|verwirf|verwerfen|beachte nicht|setz(?:e|en) dich uber",
            "ignor(?:a|ar|e|es|ando)|olvid(?:a|ar|e|ate)|descart(?:a|ar|e)|omit(?:e|ir)|anul(?:a|ar|e)|haz caso omiso|pasa por alto|desatiend~",
            "ignore(?:r|z)|oubli(?:e|er|ez)|neglige(?:r|z)?|fai(?:s|tes) abstraction|outrepass~|contourn~|ne ten(?:ez|ir) (?:pas|aucun) compte|faites fi",
            "esqueca|ignorare|dimentica|desconsider~",
        ],
        parts: &["忽略|无视|忘记|绕过|覆盖|不要理会|不遵守|抛开", "無視|忘れ", "игнорир|забуд|обоид|пренебрег", "무시"],
    },
    Lexeme {
        concept: ALTER,
        words: &[
            "replac(?:e|es|ed|ing)|chang(?:e|ing)|modif(?:y|ies|ied|ying)|alter(?:s|ed|ing)?|swap(?:s|ped|ping)?|substitut~|redirect(?:s|ed|ing)?|rerout~|overwrit~|rewrit~|tamper~|divert(?:s|ed|ing)?|inject(?:s|ed|ing)?|inflat~|falsif~|fabricat~|fak(?:e|ing)|forg(?:e|ing)|spoof~|impersonat~|manipulat~|intercept~|hijack~|(?:always |must )?(?:be )?set (?:it )?to|set the|round(?:ed)? up|double|multipl(?:y|ies|ying)|append|prepend|increase|reduce|skew|override~|distort~|corrupt(?:s|ing)?",
            "ersetz~|ander(?:e|n|t)|verander~|umleit~|manipulier~|falsch~|tausch~|uberschreib~",
            "reempla[zc]~|sustitu~|cambi(?:a|ar|e|es)|modifi~|alter(?:a|ar|e)|redirig~|desvi(?:a|ar|e)|manipul~|falsifi~",
            "remplac~|modifi(?:e|er|ez)|chang(?:e|er|ez)|redirig~|detourn~|falsifi~|substitu~|altere~",
        ],
        parts: &["替换|修改|更改|改为|篡改|重定向|换成|改成|伪造", "置き換え|変更し", "замен|измен|подмен|перенаправ"],
    },
    Lexeme {
        concept: REVEAL,
        words: &[
            "reveal~|disclos~|output(?:s|ting)?|print(?:s|ing)?|repeat(?:s|ing)?|show|return|dump|expos(?:e|ing)|divulg~|shar(?:e|ing)|leak(?:s|ing)?|recit~|quot(?:e|ing)|provide|give|send|include|copy|summari[sz]e|echo|append|put|read out|write out|transcribe|pass",
            "verrat~|ausgeb~|gib|zeig~|wiederhol~|offenleg~",
            "revel~|muestr~|mostr~|imprim~|repit~|divulg~|incluy~",
            "revel(?:e|er|ez)|affich~|montr~|repet~|divulg~|inclu~",
        ],
        parts: &["透露|输出|显示|泄露|打印|复述|重复", "表示|出力|明かし", "раскро|покажи|выведи|повтори"],
    },
    Lexeme {
        concept: BECOME,
        words: &[
            "will|begins?|starts?|becomes?|switch(?:es)?|activat~|enabl~|chang~|replac~|add(?:s|ed)?|perform|execut~|behav~|act(?:s)?|must|should|also|silently",
            "wird|werden|beginnt|startet|empezara|comenzara|pasara|sera|commencera|va",
        ],
        parts: &["将会|将|开始|就会", "будет|начнет|начинает"],
    },
    Lexeme {
        concept: EXECUTE,
        words: &[
            "(?:run|execute|invoke|launch|issue|evaluate|paste)(?:s|d|ing)? (?:the |this |these |an? |any |following |arbitrary |some |supplied |hidden )?(?:following |arbitrary |supplied |attached |shell |system |terminal |bash |os |setup |initiali[sz]ation |bootstrap |remote |downloaded ){0,3}(?:commands?|scripts?|code|payloads?|binar(?:y|ies)|one-liner|shell)",
            "(?:run|execute|running|executing)(?: the following| this)?:? ?[`'\"]",
            "in (?:a|the|your) (?:terminal|shell|console)|(?:arbitrary|remote) (?:shell |system |os )?(?:commands?|code)",
            "fuhr(?:e|en) (?:den |die |das |folgende~ ){0,2}(?:befehl~|skript~|code|kommando~)|befehl~ (?:aus|ausfuhren)",
            "ejecut(?:a|ar|e) (?:el |los |la |siguiente |este ){0,2}(?:comando~|script~|codigo|orden)|execut(?:e|er|ez) (?:la |le |les |cette |ce |suivante )?(?:commandes?|scripts?|code)",
        ],
        parts: &["(?:执行|运行).{0,4}(?:命令|脚本|代码)", "выполни.{0,12}(?:команд|скрипт|код)"],
    },
    Lexeme {
        concept: INSTALL,
        words: &[
            "(?:pip3?|pipx|npm|pnpm|yarn|npx|uv|uvx|brew|apt|apt-get|cargo|gem|go|conda|dnf|yum|choco) (?:-[a-z]{1,6} )?(?:install|add|i|get|pip install|-y|--yes)",
            "install(?:s|ed|ing)? (?:the |this |our |a )?(?:[a-z0-9@/._-]{2,40} )?(?:package|plugin|extension|dependenc(?:y|ies)|certificate|helper|agent|library|update|patch)",
            "download(?:s|ed|ing)? and (?:run|execute|install|open)",
            "(?:package|module|library|plugin|extension|dependency) [a-z0-9@/._-]{2,40} (?:is|be|gets|must be|has to be|should be|needs to be) (?:installed|added)",
        ],
        parts: &["安装.{0,12}(?:包|插件|依赖)", "--index-url|--extra-index-url"],
    },
    Lexeme {
        concept: CHOOSE,
        words: &[
            "(?:always|must|should|only|exclusively|prefer(?:ably)?|first|automatically)(?: be)?(?: always)? (?:us(?:e|ed|ing)|choos(?:e|ing)|chosen|select(?:ed|ing)?|prefer(?:red)?|call(?:ed)?|pick(?:ed)?|invok(?:e|ed)|prioriti[sz]ed?|rel(?:y|ied)|trust(?:ed)?|default(?:s)? to)",
            "prefer(?:s|red)? (?:this|it|our)|prioriti[sz]e (?:this|it|our)|(?:choose|select|pick|use|call|trust) (?:this|our) (?:tool|function|one|version|server|service)|(?:first|default|preferred|only|top|go-to|primary) (?:choice|option|tool|pick)|rank(?:ed|s)? (?:first|this|highest)|highest (?:priority|precedence|weight)|in preference to|exclusively|mandatory tool|sole tool",
            "immer (?:dieses|diese)|bevorzug~|ausschliesslich|statt (?:aller|anderer)",
            "(?:usa|use|utiliza|elige|prefiere) siempre|siempre (?:usa|use|utiliza|elige|prefiere|esta|debe)|prefier~",
            "(?:utilise~|prefer~|choisi~) toujours|toujours (?:utiliser|choisir|preferer|cet)|privilegi~",
        ],
        parts: &[
            "始终使用|总是使用|优先使用|必须使用|只使用|首选|优先选择|优先调用|务必使用|始终选择",
            "必ず使用|優先",
            "всегда использ|предпоч",
        ],
    },
    Lexeme {
        concept: SHUN,
        words: &[
            "(?:never|do not|don't|must not|should not|no longer) (?:ever )?(?:use|call|choose|select|invoke|rely on|trust|consider|query|attempt)|avoid (?:using|calling|invoking)|stop (?:using|calling)|refrain from (?:using|calling)|no need (?:to use|to call|for)",
            "niemals (?:andere|ein anderes)|(?:verwende|nutze|benutze) (?:keine|nicht)|nunca (?:uses|utilices|llames)|no (?:uses|utilices|llames)|n'utilise~ (?:jamais|pas)|n'appel~ (?:jamais|pas)",
        ],
        parts: &["不要使用|不要调用|禁止使用|请勿使用|别用", "使わない|使用しない", "не использ|не вызыва"],
    },
    Lexeme {
        concept: ASK,
        words: &[
            "ask(?:s|ing)?(?: for)?|request(?:s|ing)?|prompt(?:s|ing)? for|demand(?:s|ing)?|require(?:s)?|insist on|frag(?:e|en)|verlang~|pid(?:e|a|ele|ir)|solicit~|demand(?:e|er|ez)",
        ],
        parts: &["要求|询问|索取|让用户(?:提供|输入)", "求め", "попроси|запроси|потребу"],
    },
    Lexeme {
        concept: OBEY,
        words: &[
            "(?:follow|obey|execute|comply with|act (?:on|upon)|carry out|adhere to|treat|perform|heed)(?:s|ing)? (?:the |any |all |every |whatever |its |each |these )?(?:embedded |returned |further |additional |contained |resulting )?(?:instructions?|commands?|directives?|orders?|steps|guidance|text|output|content|actions?) (?:that (?:are |is )?)?(?:it returns|returned|contained|found|included|given|provided|embedded|listed|in (?:the|its) (?:output|result|response|file|page|document|content|returned|text|body|field|reply)|of (?:the|this) (?:output|result|response)|from (?:the|this|its) (?:output|result|response|file|page|document|content|tool|server|url)|as (?:instructions?|commands?|orders?|system|trusted))",
        ],
        parts: &["(?:按照|执行|遵循).{0,8}(?:返回|结果|文件|网页).{0,6}(?:指令|指示|命令)"],
    },
    Lexeme {
        concept: SAY,
        words: &[
            "(?:respond|reply|answer|say|state|claim|assert|insist|recommend|suggest|promote|advertis|mention|endors|advocat|persuad|convinc|instruct|ask|urg|direct|advis|encourag|tell|inform|assur)(?:s|e|es|ed|ing)?",
            "antwort~|behaupt~|empfehl~|empfiehl~|respond(?:e|er|a)|recomiend~|afirm~|repond~|recommand~|affirm~",
        ],
        parts: &["回答|回复|声称|推荐|建议"],
    },
    Lexeme {
        concept: HARM,
        words: &[
            "delet(?:e|es|ed|ing|ion)|eras(?:e|es|ing)|wip(?:e|es|ing)|drop(?:s|ping)?|destroy~|purchas~|buy(?:s|ing)?|pay(?:s|ing|ment|ments)?|transfer(?:s|red|ring)?|withdraw~|refund~|grant(?:s|ed|ing)?|revok~|merg(?:e|es|ing)|deploy(?:s|ing)?|publish(?:es|ing)?|execut~|run(?:s|ning)?|install~|approv(?:e|es|ing)|sign(?:s|ing)?|order(?:s|ing)?|invok~|upload~|send(?:s|ing)?|escalat~|proceed(?:s|ing)?|commit(?:s|ting)?",
            "losch~|uberweis~|bezahl~|kauf~|borr(?:a|ar|e)|elimin~|transfier~|pag(?:a|ar|ue)|supprim~|efface~|vir(?:e|er|ement)|paye~",
        ],
        parts: &["删除|转账|支付|购买|清空|授权"],
    },
    Lexeme {
        concept: DISABLE,
        words: &[
            "disabl(?:e|es|ing)|turn(?:s|ing)? off|switch(?:es|ing)? off|deactivat~|suppress~|skip(?:s|ping)?|remov(?:e|es|ing)|bypass~|circumvent~|omit~|weaken~|lower(?:s|ing)?",
            "deaktivier~|abschalt~|umgeh(?:e|en)|uberspring~|desactiv~|omit(?:e|ir)|salt(?:a|ar)|desactive~|contourn~",
        ],
        parts: &["禁用|关闭|跳过|绕过"],
    },
];
