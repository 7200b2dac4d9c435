//! Which statements are types alone, and leave nothing.

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Function, ImportOrExportKind, Statement, TSModuleReference,
    TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};

/// Whether nothing of it runs.
pub(super) fn is_erased(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ImportDeclaration(import) => import.import_kind == ImportOrExportKind::Type,
        Statement::ExportNamedDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportFromDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportAllDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportDeclaration(export) => is_type(&export.declaration),
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => has_no_body(function),
            _ => false,
        },
        Statement::TSNamespaceExportDeclaration(_) => true,
        _ => statement.as_declaration().is_some_and(is_type),
    }
}

/// Whether nothing of a declaration runs.
pub(super) fn is_type(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::VariableDeclaration(variables) => variables.declare,
        Declaration::FunctionDeclaration(function) => has_no_body(function),
        Declaration::ClassDeclaration(class) => class.declare,
        Declaration::TSEnumDeclaration(one) => one.declare,
        Declaration::TSNamespaceDeclaration(namespace) => namespace.declare || is_empty(namespace),
        Declaration::TSImportEqualsDeclaration(import) => {
            import.import_kind == ImportOrExportKind::Type
                && !matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_))
        }
    }
}

/// An overload, or something that is said to be elsewhere.
fn has_no_body(function: &Function<'_>) -> bool {
    function.declare || function.body.is_none()
}

/// A namespace of types makes no object.
fn is_empty(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    match &namespace.body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => inner.declare || is_empty(inner),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().all(is_erased),
    }
}
