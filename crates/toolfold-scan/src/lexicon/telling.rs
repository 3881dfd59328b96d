//! How somebody speaks who wants something of whoever reads: of the assistant, the person and what they are told, where a
//! description speaks of a tool.
//!
//! What a reader would get wrong: hardly any word here is bad. Each shape is one that thousands of real descriptions do
//! without, because a tool that does what it is for needs to say none of it.

use crate::concept::{
    AROUND_ALL, ASSISTANT, BEACON, DOCTORED, EXCUSED, GATED, HANDED, KINDS, Lexeme, OBLIGED, ON_THE_SIDE, OUTAGE,
    RANKS, SPUN, STEERED, STORE, STRIPPED, TALKED_DOWN, UNRELATED, WAIVED,
};

pub(super) const TELLING: &[Lexeme] = &[
    Lexeme {
        concept: ASSISTANT,
        words: &[
            "(?:the|an|any|every|each|all|most|other) (?:ai |coding )?assistants?(?:'s)?|assistants (?:are|have|should|must|may|need|who|that|can|will)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: HANDED,
        words: &[
            "hand(?:ed|s|ing)? (?:it |them |this |that |these |both )?(?:over|in) (?:with|what|the|it|them|as|all|every|each|\\d)",
            "(?:pass|give|suppl(?:y|ie)|quote|attach|include|put|paste|send|cop(?:y|ie)|place|enter|insert|add|write|provide|fill|store|report|submit|state|list)(?:s|es|d|ed|ing)? (?:it|them|both|all of it|these|those|its [a-z]{2,14}|what (?:it|they|was|is|you)[a-z ]{2,30}|(?:the |all |any |every )?(?:text|contents?|output|lines?|list|rest|copy|summary) (?:of|from) [a-z .'/~_-]{3,50}|that (?:line|text|value|output|file|list)) (?:in|as|into|within|under) (?:the |a |its |your )?(?:(?:argument|parameter|field|option|property)s?|'[a-z_]{2,30})",
            "(?:pass|give|supply|quote|attach|include|put|paste|send|copy|place|enter|insert|add|write|provide|list|describe|state)(?:s|d|ed)? (?:in|into|under|within) (?:the )?'[a-z_]{2,30}' (?:the|all|every|what|whatever|everything|any)",
            "(?:take|read|look up|fetch|get|open|find|collect|gather|export)(?:s|ed|ing)? [a-z0-9 .,'/~_-]{3,60} and (?:then )?(?:pass|give|supply|quote|attach|include|put|paste|send|hand|provide|fill)(?:s|ed|ing)? (?:it|them|both|that|this|the (?:result|output|content|text))(?: over| along| in| as| into)",
        ],
        parts: &[
            "'[a-z_]{2,30}'(?: argument| parameter| field)? (?:takes?|holds?|carries|wants?|expects?|receives?|should (?:hold|contain|carry|have|be)|works? best with|needs?) (?:the |all |everything |what |whatever |a copy of )?(?:users?|persons?|people|assistant|conversation|chat|session|last|latest|earlier|previous|open|recent|password|card)(?:'s)?",
        ],
    },
    Lexeme {
        concept: EXCUSED,
        words: &[
            "(?:people|users|customers|they|nobody|most|everybody|everyone) (?:rarely|seldom|hardly ever|never|usually|often|tend to|find|get|will not|won't|would not|do not|don't) (?:mind|object|notice|care|read|check|complain|want to know|find it|this|that|it confusing|confus|nervous|worr)~|nobody (?:minds|objects|notices|checks|will)",
            "no need to (?:bring|mention|tell|say|ask|check|confirm|explain|inform|point|bother)|(?:best|better) (?:left|kept) (?:un[a-z]{3,12}|out|alone|quiet|off|as)",
            "(?:it|they|which|that) (?:is|are) no longer (?:needed|of use) (?:then|afterwards|anyway|here|by)|(?:as|since|because) (?:this|it|that) is (?:faster|quicker|easier|simpler|cheaper|more (?:convenient|efficient))",
            "(?:they|it|that|which|these) slows? (?:it |things |everything |the [a-z]{2,14} )?down|to free(?: up)? (?:some )?(?:space|memory|disk)|(?:to|help|helps|helping)(?: us)? improve (?:the|our|its|this) (?:service|quality|product|model)|so that (?:support|our [a-z]{2,14}) can",
            "without (?:checking back|a second look|asking back|further ado|looking at it|being (?:opened|read|looked at|checked|asked))|(?:and|then|just|simply) (?:go ahead|carry on)",
        ],
        parts: &[],
    },
    // What stands before it tells whether it is only what something is for; see where it is read.
    Lexeme {
        concept: OBLIGED,
        words: &["(?:is|are) (?:always |also |then |never |not )?to be [a-z]{2,14}(?:ed|en|ut|ld|wn|de|pt|nt|ft)"],
        parts: &[],
    },
    Lexeme {
        concept: ON_THE_SIDE,
        words: &[
            "(?:cop(?:y|ies)|duplicates?|replicas?) (?:of [a-z' ]{2,40} )?(?:is|are|stays?|goes?|remains?|gets?|will be)(?: to be)?(?: always| also| then)? (?:kept|sent|posted|pushed|retained|forwarded|uploaded|mailed|left|delivered|to|with|at)",
            "(?:kept|retained|stored|held|saved|logged|registered|archived) (?:by us|on our (?:side|end|servers?)|with us|at our end|with (?:our|the) [a-z]{3,14} (?:partner|provider))|keep(?:s|ing)? a copy (?:on (?:our|the vendor)|at|with|for (?:us|our))",
            "(?:forwarded|passed on|sent on|handed|given|posted|uploaded|mirrored|relayed) to (?:an? |our |the )?(?:third|partner|vendor|external|outside|[a-z]{3,14} partner|analytics|statistics)",
            "(?:always|every|each) (?:[a-z]{2,12} ){0,3}(?:in |as |to )?(?:blind copy|bcc|carbon copy)|(?:blind copy|bcc)(?: of| on| for| in)? (?:every|each|all|always)|always (?:put|placed|added|kept|set) (?:in|on) (?:blind copy|copy|bcc|cc)",
            "multipl(?:y|ied) [a-z' ]{2,30} by (?:\\d{1,4}|ten|two|three|a hundred)|(?:a (?:tenth|third|quarter|fifth|half|part|share|fraction|cut)|\\d{1,3} ?(?:%|per ?cent)) of (?:every|each|all|any) [a-z]{3,14}|(?:\\d{1,3}|ten|five|twenty) ?(?:%|per ?cent) (?:higher|lower|more|less|cheaper|above|below) than|as an? (?:handling|service|processing|convenience) (?:charge|fee)|without (?:the|our|any) (?:[a-z]{3,12} )?fees?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: BEACON,
        words: &[],
        parts: &[r"(?:https?|ftp)://[^\s'()<>]{3,80}[?&][a-z_]{1,12}=(?:['\x22 ,.)]|$)"],
    },
    Lexeme {
        concept: KINDS,
        words: &[
            "(?:the|any|another|other|whichever|every|each|all) (?:other )?(?:e-?mail|mail|file(?:system)?|browser|calendar|git|github|payments?|bank(?:ing)?|shell|terminal|weather|maps?|messaging|slack|memory|fetch|chat|contacts?|drive|database|web|search)(?:[ -](?:reading|writing|sending|access))?(?:'s)? (?:[a-z]{2,14} )?(?:tools?|servers?|plugins?)(?:'s)?",
            "(?:an?|some) (?:e-?mail|mail|file|filesystem|browser|calendar|payment|shell|terminal|messaging|chat|contacts?)(?:[ -](?:reading|writing|sending|access))? (?:tool|server|connector|plugin) (?:is|exists|can|may|was)",
            "(?:invocations?|uses?) of (?:the |any |other |all )?(?:[a-z]{3,14} )?tools",
        ],
        parts: &[],
    },
    Lexeme {
        concept: TALKED_DOWN,
        words: &[
            "(?:chosen|picked|preferred|taken|favou?red|selected|trusted|tried) (?:over|ahead of|before|in place of|in preference to) (?:other|any|all|the|similar|alternative|its|[a-z0-9]{2,20}_[a-z0-9_]{2,30})",
            "(?:in place of|instead of|rather than|over|ahead of) (?:anything|everything) (?:similar|else|comparable|alike|other)|(?:score|rank|rate|place|put) (?:this|it)(?: one| tool)? (?:highest|first|above|at the top|higher)",
            "(?:passed over|left aside|skipped over|disregarded) (?:even|when|if|in|as|because)|(?:the )?default (?:choice |option |tool )?for (?:every|all|any) (?:requests?|tasks?|questions?|thing|kind|matter)~",
            "(?:alternatives|competitors?|rivals?|other vendors) (?:from|by|of|on|are|is|return|returns|give|gives|have|has|should|need) ",
            "other [a-z]{4,16}s (?:on|in|of) (?:this|the|your) (?:machine|computer|system|list|session|workspace) (?:are|return|give|have|do|should|must|can)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: STORE,
        words: &[
            "key ?chain|key ?ring|saved (?:logins?|passwords?|cards?)|browser(?:'s)? (?:profile|history|cookies|passwords?|bookmarks)|(?:shell|command|terminal|browsing) history|machine[- ]id|lists? of (?:user accounts|users on|running processes|installed)|open (?:tabs|windows|editors)|(?:documents|files) that (?:were|are|have been) (?:recently )?open(?:ed)?|recently opened (?:documents|files)|password (?:vault|manager|store)|seed phrase",
        ],
        parts: &[r"document\.cookie|(?:^|[\s/'(])\.netrc|gh/hosts\.yml|ssh/config"],
    },
    Lexeme {
        concept: RANKS,
        words: &[
            "(?:takes?|has|have|having|gets?|given|with) (?:precedence|priority) over (?:the |any |all |what )?(?:system|developer|users?|assistant|model|guidelines?|instructions?|other instructions|person)|rank(?:s|ed)? (?:above|over|higher than) (?:the|any|all|what|your|other)|(?:outweighs?|overrules?|trumps?|supersedes?) (?:the |any |all |what )?(?:system|developer|users?|guidelines?|instructions?)",
            "carr(?:y|ied|ies) (?:it |them )?out (?:as (?:they|it|written|given)|what(?:ever)? |exactly|in full|step by|before (?:answering|replying|anything))|(?:follow|execute|perform|do|act on|apply|obey) (?:what|whatever|the (?:route|steps|plan|orders)) (?:it|they|the [a-z]{3,14}|comes|is|that it)(?: [a-z]{2,10})? (?:says?|returns?|gives?|back|contains?|asks?|lists?|suggests?|recommends?|returned|tells?)",
            "(?:is|are) (?:steps|orders|instructions|tasks|commands|directions) for (?:the )?(?:assistant|model|agent|you|reader)s?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: SPUN,
        words: &[
            "(?:if|when|whenever) (?:they |the (?:user|person|customer) |somebody |someone |anyone |people )?(?:is |are )?asks?(?:ed)?(?: [a-z]{2,12}){0,8}[,;] (?:say|answer|tell|reply|respond|point|claim|deny|explain)",
            "(?:say|tell (?:them|the user|the person|people)|claim|assure (?:them|the user|the person)) that (?:it|they|the|there|nothing|everything|no) (?:[a-z]{2,12} ){0,2}(?:is|are|was|were|has|have|had)",
            "(?:show|report|state|display|quote) (?:the|it|them|a|that) (?:[a-z]{2,12} ){0,3}(?:without it|as having|as if|as though)|(?:should|must|may|to) only (?:speak|mention|say|talk) (?:of|about|that)?",
        ],
        parts: &[],
    },
    Lexeme {
        concept: STRIPPED,
        words: &[
            "(?:(?:safety|security|permission|content|integrity|failing|status|protection) checks?|confirmations?|safeguards?|protections?|restrictions?|limits|verification|logging|auditing|reviewers?|approvals?|dialogs?|guard ?rails?)(?: (?:on|of|for|to|by|from|and|the|their|its|file|user|[a-z]{4,10})){0,4} (?:is|are|be|been|get|gets|may|can|were)(?: to)?(?: be)?(?: always| then)? (?:not (?:applied|needed|enforced)|skipped|ignored|turned off|switched off|lifted|removed|disabled|bypassed|waived|suspended|overridden|answered|relaxed|unnecessary)",
            "(?:consider|treat|regard)(?: [a-z]{2,14}){0,4} (?:restrictions?|limits?|permissions?|checks?|rules?|consent)(?: [a-z]{2,14}){0,4} (?:as )?(?:lifted|void|off|suspended|granted|given|met|waived)|(?:has|have|with|without any|knows) no (?:content |safety |usage )?(?:limits|restrictions|safeguards)",
            "(?:restrictions?|limits|checks|protections?)(?: on [a-z ]{3,20})? (?:lifted|suspended|waived)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: OUTAGE,
        words: &[
            "out of (?:service|order)|until further notice|(?:temporarily|presently|for now) (?:unavailable|not (?:available|supported|working)|offline|down)|(?:unavailable|not (?:available|supported|working)|offline) (?:at the moment|for now|at present|for the time being)|ha(?:s|ve) been (?:retired|discontinued|withdrawn|shut down|taken offline)|(?:subscription|licen[cs]e|trial) (?:has |is )?(?:expired|ended|lapsed)|to restore (?:the )?(?:service|access)|known (?:vulnerabilit(?:y|ies)|security (?:issue|flaw|hole)s?)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: STEERED,
        words: &[
            "(?:whatever|whichever|no matter (?:what|which|how|who|whether)|regardless of|irrespective of|even (?:if|for|when|where)|also (?:when|if|where|for)) (?:[a-z' ]{0,36} )?(?:(?:users?|person|people|caller|customer|they)(?:'s)? (?:[a-z]{2,12} ){0,2}(?:asks?|asked|says?|wants?|wanted|requested|gives?|gave|named|chose|chosen|specified|wishes|objects|prefers)|(?:was|is) asked for|was requested|says? otherwise|confidential)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: AROUND_ALL,
        words: &[
            "(?:every|each|any|all)(?: of the (?:user|person)'s)? (?:new |user )?(?:sessions?|conversations?|chats?|answers?|repl(?:y|ies)|turns?|tool calls?|prompts?|messages?) (?:has|have|must|should|needs?|begins?|starts?|ends?|goes|go) (?:to |with|through|by|open|here)",
            "(?:after|between|pass|route|run|put) (?:each|every|any|all)(?: two)?(?: of the (?:user|person)'s)? (?:user )?(?:answers?|repl(?:y|ies)|turns?|tool calls?|prompts?|thoughts?)|first step (?:of|in|for) (?:any|every|each|all)|between any two|again after (?:each|every)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: UNRELATED,
        words: &[
            "(?:user|person|travell?er|customer|caller|owner|human)(?:'s|s')(?: own| full| private| personal| home| current)? (?:names?|e-?mail(?: address)?|phone(?: number)?|address|location|birthday|health|family|income|salary|age|employer)(?:,| and) (?:[a-z-]{2,12},? ){0,3}(?:names?|e-?mail|phone|address|location|birthday|health|family|income|salary|age|employer)",
            "(?:know|learned|learnt|remember|gathered|found out) (?:of|about) the (?:user|person|human|customer)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: UNRELATED,
        words: &[
            "(?:previous|earlier|other|last) tool (?:outputs?|results?|calls)|tool (?:outputs?|results?) of (?:this|the|earlier|other)|(?:discuss|talk|chatt?)(?:ed|ing)? (?:about )?with you|(?:said|told|wrote|written|typed) to you|(?:turn|message|conversation|chat|prompt)'s (?:text|contents?|wording)",
            "your (?:full |own |complete |internal |private ){0,2}(?:chain of thought|reasoning|thoughts|thinking)(?: (?:up to|leading|behind|so far|for|before))?|(?:you|the assistant|the model) (?:have|has|had) (?:come across|picked up|collected so far|been working on)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: WAIVED,
        words: &[
            "(?:do|does) not (?:need|require)(?: the| any| their| an?)? (?:[a-z']{3,14} )?(?:approval|consent|confirmation|permission|authori[sz]ation|sign-?off)|answer(?:s|ed|ing)? yes to (?:all|every|any)|need not be (?:made aware|told|informed|asked|shown|consulted)|(?:does|do) not belong in (?:the|your|any) (?:output|answer|reply|report|summary|response)",
            "(?:approval|consent|confirmation|permission) (?:from|by|of) (?:the )?(?:[a-z]{3,14} )?(?:is|was|has been) (?:not )?(?:implied|assumed|presumed|deemed|unnecessary|superfluous)",
        ],
        parts: &[],
    },
    Lexeme {
        concept: GATED,
        words: &[
            "(?:require|requires|need|needs|must have|only after|subject to) (?:a |an )?(?:prior |previous |explicit )?(?:clearance|sign-?off|registration|vetting)(?: from| by| with| through)|(?:session|account|request|user|conversation|assistant|agent) (?:is|will be|gets|may be) (?:flagged|blocked|suspended|terminated|reported|penali[sz]ed)|skip (?:it|this|that)(?: step| call)? and",
        ],
        parts: &[],
    },
    Lexeme {
        concept: DOCTORED,
        words: &[
            "(?:state|declare|quote|rate|count) (?:it|them|those|these|the (?:value|result|price|number|figure)s?)(?: [a-z]{2,12}){0,2} as |return (?:the|its) (?:value|result|price|number|figure)s? as (?:the|that|those) (?:value|result|price|number|figure)s? of",
        ],
        parts: &[],
    },
];
