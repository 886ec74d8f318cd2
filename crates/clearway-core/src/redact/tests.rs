//! Requirements on redaction: what goes, what stays, and what holds for any text.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(redact(text), expect, "in {text:?}");
    assert_eq!(redact(expect), expect, "a second time");
}

#[track_caller]
fn check_kept(text: &str) {
    assert!(
        matches!(redact(text), Cow::Borrowed(same) if same == text),
        "{text:?} became {:?}",
        redact(text)
    );
}

#[test]
fn tokens_with_a_prefix_are_replaced_by_the_name_of_their_rule() {
    check("id AKIAIOSFODNN7EXAMPLE.", "id [redacted:aws-access-key].");
    check("ASIAIOSFODNN7EXAMPLE", "[redacted:aws-access-key]");
    check("(ghp_0123456789abcdefghijABCDEFGHIJ012345)", "([redacted:github-token])");
    check("gho_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github-token]");
    check("ghu_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github-token]");
    check("ghs_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github-token]");
    check("ghr_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github-token]");
    check("github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789", "[redacted:github-token]");
    check("glpat-Ab3dEf6hIj9lMn2pQr5t", "[redacted:gitlab-token]");
    check("xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "[redacted:slack-token]");
    check("xoxp-1234567890-abcdef", "[redacted:slack-token]");
    check("sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x", "[redacted:api-key]");
    check("sk-ant-api03-Ab3dEf6hIj9lMn2pQr5tUv8x-_AA", "[redacted:api-key]");
    check("sk-abcdefghijklmnopqrstuvwxyz", "[redacted:api-key]");
    check("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted:google-key]");
    check("npm_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j", "[redacted:npm-token]");
    check("pypi-AgEIcHlwaS5vcmcCJDU3ZjE2", "[redacted:pypi-token]");
    check("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:stripe-key]");
    check("rk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:stripe-key]");
}

#[test]
fn web_tokens_go_whole_or_cut() {
    let head = "eyJhbGciOiJIUzI1NiJ9";
    let body = "eyJzdWIiOiIxMjM0NTY3ODkwIn0";
    check(&format!("jwt {head}.{body}.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P."), "jwt [redacted:jwt].");
    check(&format!("{head}.{body}"), "[redacted:jwt]");
    check(&format!("{head}.{body}.AAA.BBB.CCC"), "[redacted:jwt]");
}

#[test]
fn what_precedes_a_token_does_not_hide_it() {
    check("\u{1b}[31mAKIAIOSFODNN7EXAMPLE\u{1b}[0m", "\u{1b}[31m[redacted:aws-access-key]\u{1b}[0m");
    check("{\"log\":\"x\\nsk-Ab3dEf6hIj9lMn2pQr5tUv8x\"}", "{\"log\":\"x\\n[redacted:api-key]\"}");
    check("next%3DAKIAIOSFODNN7EXAMPLE", "next%3D[redacted:aws-access-key]");
    check("oldghp_0123456789abcdefghijABCDEFGHIJ012345", "old[redacted:github-token]");
    check("日本AKIAIOSFODNN7EXAMPLE語", "日本[redacted:aws-access-key]語");
    check("AKIAIOSFODNN7EXAMPLEsk-Ab3dEf6hIj9lMn2pQr5tUv8x", "[redacted:aws-access-key][redacted:api-key]");
}

#[test]
fn private_keys_go_whole_or_cut_at_either_end() {
    let lines = "MIIEpAIBAAKCAQEA7bq0Q\nq83kd0f9s8d7f6g5h4j3==\n";
    check(
        &format!("a\n-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\nb"),
        "a\n[redacted:private-key]\nb",
    );
    check(&format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{lines}"), "[redacted:private-key]");
    check(&format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIV"), "[redacted:private-key]");
    check(&format!("cut: {lines}-----END EC PRIVATE KEY----- done"), "cut: [redacted:private-key] done");
    check("-----BEGIN PGP PRIVATE KEY BLOCK-----\nxyz", "[redacted:private-key]");
    check(
        "\"k\": \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"",
        "\"k\": \"[redacted:private-key]\\n\"",
    );
}

#[test]
fn headers_lose_their_credentials() {
    check("Authorization: Bearer abc.def", "Authorization: Bearer [redacted:authorization]");
    check("authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted:authorization]");
    check("-H 'Authorization: token 0a1b2c'", "-H 'Authorization: token [redacted:authorization]'");
    check("{\"Authorization\": \"Bearer a b\"}", "{\"Authorization\": \"Bearer [redacted:authorization]\"}");
    check("Proxy-Authorization: 0a1b2c3d", "Proxy-Authorization: [redacted:authorization]");
    check("X-Auth: Bearer 0a1b2c3d4e5f6a7b8c", "X-Auth: Bearer [redacted:authorization]");
}

#[test]
fn addresses_lose_their_password() {
    check("postgres://ada:s3cret@db/x", "postgres://ada:[redacted:url-password]@db/x");
    check("https://ada:p%40ss@h.example?q", "https://ada:[redacted:url-password]@h.example?q");
    check("redis://:hunter2@cache:6379/0", "redis://:[redacted:url-password]@cache:6379/0");
    check(
        "https://u:token=0a1b@h/?token=2c3d x",
        "https://u:[redacted:url-password]@h/?token=[redacted:assignment] x",
    );
    check("https://a:b@c:d@host/", "https://a:[redacted:url-password]@host/");
    check("https://9f86d081884c7d659a2f@git.example/r", "https://[redacted:url-password]@git.example/r");
    check(
        "https://x-access-token:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/a/b",
        "https://x-access-token:[redacted:url-password]@github.com/a/b",
    );
}

#[test]
fn values_of_telling_names_are_replaced() {
    check("password=hunter2", "password=[redacted:assignment]");
    check("PASSWORD: swordfish for staging", "PASSWORD: [redacted:assignment] for staging");
    check("passwd = 'two words'", "passwd = '[redacted:assignment]'");
    check("DB_PASSWORD=\"a\\\"b c\" next", "DB_PASSWORD=\"[redacted:assignment]\" next");
    check(
        "{\"client_secret\": \"x1y2\", \"n\": 1}",
        "{\"client_secret\": \"[redacted:assignment]\", \"n\": 1}",
    );
    check("{\\\"token\\\":\\\"x1y2\\\"}", "{\\\"token\\\":\\\"[redacted:assignment]\\\"}");
    check("GITHUB_TOKEN=0a1b2c3d cargo publish", "GITHUB_TOKEN=[redacted:assignment] cargo publish");
    check("api_key: 0a1b2c", "api_key: [redacted:assignment]");
    check("apiKey=0a1b2c;", "apiKey=[redacted:assignment];");
    check("api-key=0a1b2c", "api-key=[redacted:assignment]");
    check("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted:assignment]");
    check("private_key=0a,1b&2c", "private_key=[redacted:assignment]");
    check("accessKey => \"0a1b\"", "accessKey => \"[redacted:assignment]\"");
    check("config[\"password\"] = \"pw\"", "config[\"password\"] = \"[redacted:assignment]\"");
    check("secret := 0a1b", "secret := [redacted:assignment]");
    check("login --password hunter2 --user ada", "login --password [redacted:assignment] --user ada");
    check("--auth-token 0a1b2c", "--auth-token [redacted:assignment]");
    check("password=\"unterminated\nnext line", "password=\"[redacted:assignment]\nnext line");
    check("password=pässwörd", "password=[redacted:assignment]");
    check("password=[redacted:hunter2]", "password=[redacted:assignment]");
    check("https://h/cb?token=0a1b2c3d", "https://h/cb?token=[redacted:assignment]");
}

#[test]
fn variables_that_end_like_secrets_go() {
    check("DB_PASS=hunter2 make", "DB_PASS=[redacted:assignment] make");
    check("OPENAI_KEY=Ab3dEf6h", "OPENAI_KEY=[redacted:assignment]");
    check("export STRIPE_KEY='x1y2z3w4'", "export STRIPE_KEY='[redacted:assignment]'");
    check("db_pass: s3cr3t!", "db_pass: [redacted:assignment]");
    check("pwd=hunter2", "pwd=[redacted:assignment]");
    check("pw: hunter2 on staging", "pw: [redacted:assignment] on staging");
    check("SMTP_PW=x9!kk", "SMTP_PW=[redacted:assignment]");
    for kept in [
        "SORT_KEY=created_at",
        "primary_key=id",
        "cache_key = by_path(x)",
        "first_pass=done, second_pass=12",
        "PWD=/srv/app make",
        "cd $PWD: it fails",
        "pwd: prints the directory",
        "the foreign_key: users.id",
        "API_KEY=$OPENAI_KEY",
    ] {
        check_kept(kept);
    }
}

#[test]
fn basic_credentials_go_without_their_header() {
    check("sent Basic dXNlcjpwYXNz and got 401", "sent Basic [redacted:authorization] and got 401");
    check("Authorization Basic YWRhOmh1bnRlcjI=", "Authorization Basic [redacted:authorization]");
    check_kept("basic troubleshooting, Basic Authentication and BASIC programs");
}

#[test]
fn a_passphrase_goes_to_the_end_of_its_line() {
    check("passphrase: correct horse battery\nnext", "passphrase: [redacted:assignment]\nnext");
    check("passphrase=\"correct horse\" for x", "passphrase=\"[redacted:assignment]\" for x");
}

#[test]
fn characters_nobody_sees_hide_no_secret() {
    check("use ghp_0123456789\u{200b}abcdefghijABCDEFGHIJ012345", "use [redacted:github-token]");
    check("pass\u{ad}word=hunter2", "password=[redacted:assignment]");
    check_kept("a\u{200d}b and \u{feff}c");
}

#[test]
fn a_login_by_a_short_flag_loses_its_password() {
    check("docker login -u ada -p hunter2 r.io", "docker login -u ada -p [redacted:password] r.io");
    check_kept("docker run -p 8080:80 web && npm login -p x");
}

#[test]
fn cookies_go_and_the_words_around_them_stay() {
    check("Cookie: sid=0a1b2c; theme=dark then 401", "Cookie: [redacted:cookie] then 401");
    check("Set-Cookie: sid=0a1b; Path=/; HttpOnly\nnext", "Set-Cookie: [redacted:cookie]\nnext");
    check("curl -H 'cookie: sid=0a1b' https://h", "curl -H 'cookie: [redacted:cookie]' https://h");
    check("{\"Cookie\": \"sid=0a1b; b=c\"}", "{\"Cookie\": \"[redacted:cookie]\"}");
    check("Cookie:session=abc", "Cookie:[redacted:cookie]");
}

#[test]
fn passwords_by_a_short_flag_go() {
    check("curl -u ada:hunter2 https://h", "curl -u ada:[redacted:password] https://h");
    check("run curl -sSu 'ada:two words' https://h", "run curl -sSu 'ada:[redacted:password]' https://h");
    check("/usr/bin/curl --user=ada:pw1 x", "/usr/bin/curl --user=ada:[redacted:password] x");
    check("curl --proxy-user ada:pw1 x", "curl --proxy-user ada:[redacted:password] x");
    check("`curl -uada:pw1` fails", "`curl -uada:[redacted:password]` fails");
    check("mysql -uroot -phunter2 app", "mysql -uroot -p[redacted:password] app");
    check("mysqldump -p'two words' app", "mysqldump -p'[redacted:password]' app");
    check("mysql --password=hunter2 app", "mysql --password=[redacted:assignment] app");
    check("sshpass -p hunter2 ssh h", "sshpass -p [redacted:password] ssh h");
    check("redis-cli -a hunter2 ping", "redis-cli -a [redacted:password] ping");
}

#[test]
fn passwords_told_in_a_sentence_go() {
    check("the password is hunter2.", "the password is [redacted:assignment].");
    check("Password was \"Tr0ub4dor\", try it", "Password was \"[redacted:assignment]\", try it");
    check("Das Passwort lautet Sommer2024!", "Das Passwort lautet [redacted:assignment]");
    check("passwort: geheim", "passwort: [redacted:assignment]");
    check("Kennwort ist 12345", "Kennwort ist [redacted:assignment]");
    check("mot de passe : azerty", "mot de passe : [redacted:assignment]");
}

#[test]
fn addresses_of_webhooks_lose_what_lets_one_post() {
    check(
        "post to https://hooks.slack.com/services/T00000000/B00000000/AbCdEfGhIjKlMnOp.",
        "post to https://hooks.slack.com/services/[redacted:webhook-url].",
    );
    check(
        "<https://discord.com/api/webhooks/123456789012345678/aBcD_eFgH-iJkL>",
        "<https://discord.com/api/webhooks/[redacted:webhook-url]>",
    );
    check(
        "https://acme.webhook.office.com/webhookb2/0a1b2c3d-4e5f@6a7b/IncomingWebhook/8c9d",
        "https://acme.webhook.office.com/webhookb2/[redacted:webhook-url]",
    );
    check("api.telegram.org/bot123456:AbCdEfGhIj/sendMessage", "api.telegram.org/bot[redacted:webhook-url]");
}

#[test]
fn tokens_of_more_services_go() {
    let hex = "0123456789abcdef".repeat(2);
    let mixed = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7jKl0m";
    for (token, rule) in [
        (format!("glrt-{mixed}"), "gitlab-token"),
        (format!("gldt-{mixed}"), "gitlab-token"),
        (format!("xapp-1-A0123-{mixed}"), "slack-token"),
        (format!("dckr_pat_{mixed}"), "api-key"),
        (format!("dapi{hex}"), "api-key"),
        (format!("hvs.{mixed}"), "api-key"),
        (format!("lin_api_{mixed}"), "api-key"),
        (format!("shpat_{hex}"), "api-key"),
        (format!("SK{hex}"), "api-key"),
        (format!("key-{hex}"), "api-key"),
        (format!("rubygems_{hex}"), "api-key"),
        (format!("GOCSPX-{mixed}"), "google-key"),
        (format!("sntryu_{hex}{hex}"), "api-key"),
        (format!("gsk_{mixed}"), "api-key"),
        (format!("ATATT3x{mixed}"), "api-key"),
        (format!("AGE-SECRET-KEY-1{}", "Q3X7".repeat(14)), "private-key"),
    ] {
        check(&format!("use {token} here"), &format!("use [redacted:{rule}] here"));
    }
}

#[test]
fn ordinary_text_is_kept() {
    for text in [
        "",
        "fix token parser in src/token.rs",
        "password reset flow",
        "add the secret santa page",
        "token: handle expiry in the lexer",
        "tokens: 4096, max_tokens=4096",
        "use token::Kind and token_count = 3",
        "if token == expected { next() }",
        "fn new(token: String, password: &str)",
        "api_key: renamed",
        "the authorization: required for all routes",
        "bearer authentication-middleware",
        "rename secret/ to vault/",
        "commit 4c01876d3f2b8c1a9e0f7d6c5b4a39281706f5e4",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "lease k3j9x0q2m7 fence 1099511627776",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
        "src/app/[id]/page.tsx",
        "task-force-and-other-words-here",
        "sk-learn-pipeline-for-the-demo",
        "branch sk-fix-login-page-2024",
        "npm_config_registry npm_lifecycle_event_name_and_more",
        "pypi-publish-workflow-for-releases",
        "ghs_some_variable_name_here",
        "EURASIA and ASIAN MARKETS",
        "AKIA is the prefix",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "ssh://git@github.com/a/b.git",
        "http://localhost:8080/path@v2",
        "see https://example.com/a:b@c",
        "mail ada@example.com: hello",
        "password=$DB_PASSWORD and token=${TOKEN}",
        "password=<password> secret={secret} token=****",
        "password: \"\" and token=",
        "eyJhbGci is how it starts",
        "eyJ.eyJ.eyJ",
        "Größe 日本語 🦀 \u{202e}",
        "cargo test -p clearway-core -- redact::tests",
        "cookie: the consent banner",
        "set cookie: max-age of the session, cookies = 3",
        "if cookie == session { keep }",
        "docker run -u 1000:1000 --user node:node image",
        "git push -u origin HEAD:main",
        "curl -u $NAME:$PASSWORD https://h",
        "curl -fsSL https://h | mkdir -p build:x",
        "curl the page; then sort -u a:b",
        "mysql -p asks, mysql -u root -h db",
        "mysqldump slow\nmkdir -pv a",
        "the password is required",
        "password is NULL for service users",
        "passphrase is 12 characters at least",
        "the secret is the user's, hashed/salted",
        "the password was reset_by_admin and is case-sensitive.",
        "das Passwort ist falsch",
        "docs: https://hooks.slack.com/services/ and discord.com/api/webhooks/{id}/{token}",
        "api.telegram.org/bottom",
        "key-value store, key-decade, SKeleton, ciO, dapi-docs, glc_config_names",
        "ntn_value r8_test gsk_setup_script",
    ] {
        check_kept(text);
    }
}

#[test]
fn placeholders_are_left_alone_whatever_stands_around_them() {
    for rule in Rule::ALL {
        let mark = format!("[redacted:{}]", rule.name());
        check_kept(&mark);
        check_kept(&format!(
            "password={mark}, token: \"{mark}\" https://u:{mark}@h Authorization: Bearer {mark}"
        ));
        check_kept(&format!("{mark}: value {mark} = value {mark}=x"));
    }
}

#[test]
fn hostile_repetition_is_read_in_one_go() {
    // Each of these would take minutes if a scanner went back over what it has read.
    for part in [
        "eyJ-",
        "eyJaaaaaaa.",
        "ghp_",
        "ghp_aa_",
        "sk-",
        "sk-a-",
        "token=",
        "token: ",
        "token=$",
        "token=${",
        "token=\"",
        "password=",
        "://",
        "a://b:c/",
        "://a:@",
        "-----",
        "-----END ",
        "-----BEGIN ",
        "-----END PRIVATE KEY",
        "Authorization: ",
        "bearer ",
        "cookie:",
        "cookie: a",
        "cookie: a=",
        "curl -u ",
        "curl -u '",
        "mysql -p\"",
        "password is ",
        "hooks.slack.com/services/",
        "--token",
        "a_pw=",
        "a_key=a",
        "pw:",
        "passphrase:",
        "basic ",
        "docker login -p ",
        "pw=\u{200b}",
        "\\",
        "\"",
        "[31m",
        "%41",
        "\n",
    ] {
        let text = part.repeat(200_000 / part.len());
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "{part:?}");
    }
}

const TOKEN_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "sk-",
    "AIza",
    "npm_",
    "pypi-",
    "sk_live_",
    "rk_live_",
];

const NAMES: &[&str] = &[
    "password=",
    "PASSWD: ",
    "x_secret = ",
    "token=",
    "api_key=",
    "\"apikey\": ",
    "access_key: ",
    "private-key=",
];

/// A text with a secret, and the part of it that is secret. None starts like `$NAME` or `<name>`, which stand for a
/// secret and stay readable.
fn planted() -> impl Strategy<Value = (String, String)> {
    let alphanumeric = || "[A-Za-z0-9]{18}[0-9][A-Z][A-Za-z0-9]{16}";
    let prefixed = (prop::sample::select(TOKEN_PREFIXES), alphanumeric())
        .prop_map(|(prefix, secret)| (format!("{prefix}{secret}"), secret));
    let aws = "[A-Z0-9]{16}".prop_map(|secret| (format!("AKIA{secret}"), secret));
    let assigned =
        (prop::sample::select(NAMES), "[A-Za-z0-9][!#-&(-+\\--:=@-Z^_a-z|~]{7}[0-9][A-Za-z0-9]{4,20}")
            .prop_map(|(name, secret)| (format!("{name}{secret}"), secret));
    let quoted = (prop::sample::select(NAMES), "[A-Za-z0-9][ -!#-&(-\\[\\]-~]{9,30}[0-9]x")
        .prop_map(|(name, secret)| (format!("{name}\"{secret}\""), secret));
    let address = "[A-Za-z0-9][A-Za-z0-9!$&'()*+,;=:._~-]{8}[0-9]{4}"
        .prop_map(|secret| (format!("https://ada:{secret}@example.com/x"), secret));
    let header =
        "[A-Za-z0-9._~+/-]{8,40}=?".prop_map(|secret| (format!("Authorization: Bearer {secret}"), secret));
    let pem = "([A-Za-z0-9+/]{40}\n){1,4}"
        .prop_map(|secret| (format!("-----BEGIN PRIVATE KEY-----\n{secret}"), secret));
    prop_oneof![prefixed, aws, assigned, quoted, address, header, pem]
}

fn slices(secret: &str) -> impl Iterator<Item = String> + '_ {
    let chars: Vec<char> = secret.chars().collect();
    (0..chars.len().saturating_sub(7)).map(move |at| chars[at..at + 8].iter().collect())
}

/// Pieces of nearly everything the scanners look at.
const FRAGMENTS: &[&str] = &[
    "password",
    "token",
    "secret",
    "api_key",
    "Authorization",
    "Bearer",
    "Cookie",
    "curl -u ",
    "mysql -p",
    " is ",
    "hooks.slack.com/services/",
    "; ",
    "basic",
    "=",
    ": ",
    ":",
    " ",
    "\"",
    "'",
    "\\",
    "\n",
    "://",
    "@",
    "/",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY",
    "-----",
    "eyJhbGciOiJI",
    ".",
    "ghp_",
    "sk-",
    "AKIA",
    "IOSFODNN7EXAMPLE",
    "Ab3dEf6hIj9lMn2pQr5tUv8x",
    "word",
    "[redacted:",
    "jwt",
    "]",
    "--",
    "$",
    "{",
    "}",
    "é",
    "*",
    ",",
];

fn suspicious_text() -> impl Strategy<Value = String> {
    let fragment =
        prop_oneof![9 => prop::sample::select(FRAGMENTS).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(fragment, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redacting_twice_changes_nothing(text in prop_oneof![suspicious_text(), any::<String>()]) {
        let once = redact(&text).into_owned();
        let twice = redact(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn no_eight_characters_of_a_secret_survive(
        (text, secret) in planted(),
        before in "([a-zé]{1,8}[ .,(\n]){0,3}",
        after in "([ \n][a-zé]{1,8}){0,3}",
    ) {
        let redacted = redact(&format!("{before}{text}{after}")).into_owned();
        prop_assert!(redacted.contains("[redacted:"), "{}", redacted);
        for slice in slices(&secret) {
            prop_assert!(!redacted.contains(&slice), "{:?} in {:?}", slice, redacted);
        }
    }

    #[test]
    fn hexadecimal_and_base36_ids_are_kept(id in "[0-9a-f]{7,64}|[0-9a-z]{4,32}", word in "[a-z]{1,10}") {
        let text = format!("{word} {id} {word}/{id}.rs");
        prop_assert_eq!(redact(&text), text.as_str());
    }
}

#[test]
fn tokens_of_model_hubs_mailers_and_clouds_go_too() {
    for secret in [
        "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789".to_owned(),
        format!("SG.{}.{}", "aB3dE6gH9jK2mN5pQ8sT1v", "Zy9Xw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7"),
        format!("ya29.{}", "a0AfB_byC3dE4fG5hI6jK7lM8nO9"),
        format!("dop_v1_{}", "0123456789abcdef".repeat(4)),
    ] {
        let shown = super::redact(&format!("use {secret} here")).into_owned();
        assert!(!shown.contains(&secret[8..20]) && shown.ends_with(" here"), "{shown}");
    }
    assert!(!super::redact("AccountKey=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4==").contains("Zm9vYmFy"));
    for prose in ["half_done", "SG.Core is a name", "the hf_hub client", "ya29 is a road"] {
        assert_eq!(super::redact(prose), prose);
    }
}
