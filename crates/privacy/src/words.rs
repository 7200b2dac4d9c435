//! The words that say what stands beside them.

use crate::topic::Topic;

/// Words for each topic, in small letters, with commas between them. Where words are several, they're found with spaces, underscores,
/// hyphens and nothing between them, and in `camelCase`.
pub const WORDS: &[(Topic, &str)] = &[
    (
        Topic::Phone,
        "phone, phones, phone number, phone no, telephone, tel, mobile, mobile number, cell, \
         cell phone, cellphone, fax, call, call me, dial, sms, text me, whatsapp, msisdn, \
         reach me, contact number, hotline, telefon, telefonnummer, handy, handynummer, mobil, \
         rufnummer, téléphone, portable, teléfono, telefono, móvil, movil, celular, cellulare, \
         telefone, telefoon, mobiel, puhelin, puh, tlf, cep, cep no, gsm, gsm no",
    ),
    (
        Topic::Ssn,
        "ssn, ssns, ssn number, social security, social security number, social security no, \
         soc sec",
    ),
    (Topic::Itin, "itin, taxpayer identification, taxpayer id, individual taxpayer"),
    (
        Topic::NationalId,
        "national id, national identity, national identification, identity number, id card, \
         identification number, national number, citizen id, resident id, personal id, \
         personal number, personal code, tax id, tax number, tax identification, tin, taxpayer, \
         social insurance, insurance number, government id, identity card",
    ),
    (Topic::UkNhs, "nhs, nhs number, nhs no"),
    (Topic::UkNino, "nino, national insurance, national insurance number, ni number"),
    (
        Topic::German,
        "steuer id, steuer-id, steueridentifikationsnummer, steuerliche identifikationsnummer, \
         idnr, steuernummer",
    ),
    (Topic::French, "nir, insee, sécurité sociale, securite sociale, numéro de sécu, numero de secu"),
    (Topic::Spanish, "dni, nie, nif, documento nacional"),
    (Topic::Italian, "codice fiscale, cod fiscale, cod. fiscale, c.f."),
    (Topic::Dutch, "bsn, burgerservicenummer, sofinummer, sofi nummer"),
    (Topic::Belgian, "rijksregisternummer, registre national, rrn, niss, insz"),
    (Topic::Polish, "pesel"),
    (Topic::Swedish, "personnummer, samordningsnummer"),
    (Topic::Norwegian, "fødselsnummer, fodselsnummer, fnr"),
    (Topic::Danish, "cpr, cpr-nr, cpr nummer, cpr number, personnr"),
    (Topic::Finnish, "hetu, henkilötunnus, henkilotunnus"),
    (Topic::Austrian, "svnr, sozialversicherungsnummer, sv-nummer, versicherungsnummer"),
    (Topic::Swiss, "ahv, ahv-nr, avs, avs number, ahv nummer, oasi"),
    (Topic::Portuguese, "contribuinte, número de contribuinte, numero de contribuinte"),
    (Topic::Irish, "ppsn, pps number, pps"),
    (Topic::Czech, "rodné číslo, rodne cislo"),
    (Topic::Romanian, "cnp, cod numeric personal"),
    (Topic::Croatian, "oib"),
    (Topic::Bulgarian, "egn, егн"),
    (Topic::Baltic, "isikukood, asmens kodas, personas kods"),
    (Topic::Turkish, "tckn, tc kimlik, kimlik, kimlik no, turkish id"),
    (Topic::Israeli, "teudat zehut, israeli id"),
    (Topic::SouthAfrican, "south african id, rsa id"),
    (Topic::Brazilian, "cpf, cadastro de pessoas"),
    (Topic::Mexican, "curp"),
    (Topic::Canadian, "sin, sin number, social insurance number"),
    (Topic::Indian, "aadhaar, aadhar, uidai, pan, pan card, pan number, permanent account number"),
    (Topic::Australian, "tfn, tax file, tax file number, medicare, medicare number, medicare card"),
    (Topic::Singaporean, "nric, fin number, nric number"),
    (Topic::HongKong, "hkid"),
    (Topic::Korean, "주민등록번호, resident registration"),
    (Topic::Chinese, "身份证, 身份证号, resident identity"),
    (Topic::Japanese, "my number, マイナンバー, 個人番号"),
    (Topic::Thai, "thai id, tnin, บัตรประชาชน"),
    (
        Topic::Card,
        "card, card number, card no, credit card, debit card, creditcard, cc number, ccn, visa, \
         mastercard, amex, american express, discover, maestro, kreditkarte, carte bancaire, \
         tarjeta, cardnumber, pan number of card",
    ),
    (Topic::Routing, "routing, routing number, routing no, aba, aba number, rtn, transit number"),
    (Topic::SortCode, "sort code"),
    (
        Topic::Account,
        "account number, account no, account num, acct, acct no, acct number, bank account, \
         bank acct, checking account, savings account, kontonummer, konto-nr, numéro de compte, \
         número de cuenta, account nr, bankaccount number",
    ),
    (Topic::Ip, "ip, ip address, ipv4, ipv6, ip addr, client ip, remote addr, source ip, host ip"),
    (Topic::Mac, "mac, mac address, hardware address, ethernet, bssid"),
    (
        Topic::Birth,
        "dob, date of birth, birth date, birthdate, birthday, born, born on, birth day, geboren, \
         geboren am, geburtsdatum, né le, née le, date de naissance, fecha de nacimiento, \
         data di nascita, nato il, nata il, data de nascimento, geboortedatum, födelsedatum",
    ),
    (
        Topic::Address,
        "address, street address, home address, postal address, mailing address, \
         shipping address, billing address, delivery address, lives at, living at, resides at, \
         residing at, ship to, adresse, anschrift, wohnhaft in, domicilio, dirección, indirizzo, \
         endereço, address line 1, address1",
    ),
    (
        Topic::Passport,
        "passport, passport number, passport no, passport num, passports, reisepass, \
         reisepassnummer, passeport, pasaporte, passaporto, paspoort, pass-nr",
    ),
    (
        Topic::License,
        "driver license, drivers license, driver's license, driver’s license, driving license, \
         driving licence, driver licence, driver's licence, driver licence number, dl number, \
         dl no, license number of driver, führerschein, führerscheinnummer, permis de conduire, \
         driver license number, drivers license number, driver's license number, \
         driving licence number, driving license number, patente di guida, licencia de conducir, \
         permiso de conducir",
    ),
    (
        Topic::Crypto,
        "bitcoin, btc, ethereum, eth, wallet, wallet address, solana, monero, xmr, \
         crypto address",
    ),
    (
        Topic::Password,
        "password, passwd, pwd, passphrase, passcode, db password, db_pass, kennwort, passwort, \
         mot de passe, contraseña, user password, root password, admin password",
    ),
    (
        Topic::Key,
        "api key, api_secret, api token, access key, access token, auth token, secret, \
         secret key, client secret, private key, secret access key, refresh token, bearer, \
         authorization, token, credential, credentials, account key, signing key, \
         encryption key, webhook secret, x-api-key, shared access key, session token, \
         connection string, app secret, consumer secret",
    ),
    (
        Topic::Title,
        "mr, mrs, ms, miss, dr, prof, professor, herr, frau, señor, señora, monsieur, madame, \
         mme, signor, signora, mx",
    ),
    (Topic::Greeting, "dear, hi, hello, hey, hallo, liebe, lieber, bonjour, hola"),
    (
        Topic::Named,
        "my name is, name is, i am called, mein name ist, je m'appelle, me llamo, mi chiamo, \
         full name, first name, last name, given name, family name, surname, maiden name, \
         patient name, customer name, employee name, cardholder name, cardholder, \
         account holder, contact name, client name, beneficiary, vorname, nachname, \
         nombre completo",
    ),
    (
        Topic::Labeled,
        "name, patient, customer, contact, author, assignee, reporter, attendee, client, \
         employee, passenger, applicant, candidate, recipient, sender, signed by, signed, \
         prepared by, from, to, cc, attention, attn",
    ),
    (
        Topic::Closing,
        "regards, best regards, kind regards, warm regards, sincerely, yours sincerely, cheers, \
         best, best wishes, many thanks, thanks, thank you, respectfully, yours truly, \
         yours faithfully, mit freundlichen grüßen, freundliche grüße, viele grüße, liebe grüße, \
         cordialement, saludos, cordiali saluti, atenciosamente",
    ),
    (
        Topic::Street,
        "street, st, avenue, ave, road, rd, boulevard, blvd, lane, ln, drive, court, ct, place, \
         pl, square, terrace, highway, hwy, parkway, pkwy, circle, crescent, close",
    ),
    (
        Topic::Other,
        "id, ids, order, order id, order number, order no, invoice, invoice number, invoice no, \
         ticket, issue, case, case number, commit, sha, hash, checksum, uuid, guid, isbn, issn, \
         doi, timestamp, epoch, unix time, created at, updated at, sku, product, item, serial, \
         serial number, tracking, tracking number, article, ean, upc, gtin, asin, part number, \
         model, user id, customer id, account id, message id, request id, trace id, span id, \
         session id, transaction id, reference, ref",
    ),
    (Topic::Version, "version, ver, build, release, revision"),
    (
        Topic::Small,
        "price, amount, total, cost, qty, quantity, bytes, size, count, offset, line, lines, port, \
         pid, row, page, duration, latency, lat, lon, latitude, longitude, coordinates, error, \
         code, status",
    ),
];
